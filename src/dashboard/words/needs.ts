import { CALLBACKS } from '../../core/callback.ts'
import type { Point } from '../../core/series.ts'
import type {
  CallbackView,
  ErrorKind,
  Health,
  OpenBreaker,
  QueueView,
  ScheduleRow,
  Stats,
  WaitedLimit,
} from '../../engine/engine.ts'
import type { Engine } from '../../engine/index.ts'
import { sum } from './counts.ts'
import { type Deploy, deployName, deployPath } from './deploy.ts'
import { FAILURES, type FailingClass, failingClasses, recentOf, wasFailing } from './failing.ts'
import { isFull } from './limit.ts'
import { limitPath, queuePath } from './paths.ts'
import { readyIn } from './queue.ts'
import { about, count, many, percent } from './text.ts'
import { lineOf } from './why.ts'

export type Known = {
  now: number
  queues: readonly QueueView[]
  limits: readonly WaitedLimit[]
  points: readonly Point[]
  pointsByQueue?: Readonly<Record<string, readonly Point[]>>
  classes?: Awaited<ReturnType<Engine['stats']['classes']>>['classes']
  /** Newest first. */
  deploys?: readonly Deploy[]
  givenUp: readonly CallbackView[]
  moreGivenUp?: boolean
  schedules: readonly ScheduleRow[]
  bells?: Stats['bells']
  restored?: Health['restored']
  examined?: Health['examined']
  /** null means never. A tenant has no ticks. */
  tickAt?: Health['tickAt']
  breakers: readonly OpenBreaker[]
  /** Kinds that are not muted. */
  kinds?: readonly ErrorKind[]
}

export type Button =
  | { to: string; text: string }
  | { act: string; at: string; fields: Record<string, string>; scope: 'write' | 'admin'; icon: string; text: string }

export type Need = {
  rule: string
  weight: number
  kind: 'failed' | 'suspended'
  icon: string
  name: string
  /** Identifies a problem whose name has changing numbers. */
  subject?: string
  /** The name replaces `{}`. */
  text: string
  more?: string
  since?: number
  buttons: Button[]
}

type Rule = (known: Known) => Need[]

/** Name of its alert. @example alertOf(need) // 'paused mail' */
export const alertOf = ({ rule, subject, name }: Need): string => `${rule} ${subject ?? name}`.slice(0, 300)

const looks = {
  restored: [110, 'failed', 'alert'],
  failing: [100, 'failed', 'stop'],
  tick: [90, 'failed', 'alert'],
  bells: [90, 'failed', 'alert'],
  lost: [80, 'failed', 'alert'],
  limit: [60, 'suspended', 'limits'],
  unclaimed: [60, 'suspended', 'queues'],
  slow: [60, 'suspended', 'queues'],
  busy: [60, 'suspended', 'queues'],
  breaker: [50, 'failed', 'stop'],
  callbacks: [40, 'failed', 'callbacks'],
  schedule: [40, 'failed', 'schedules'],
  late: [40, 'failed', 'schedules'],
  doctor: [30, 'failed', 'doctor'],
  paused: [20, 'suspended', 'pause'],
} as const satisfies Record<string, readonly [severity: number, kind: Need['kind'], icon: string]>

export type RuleName = keyof typeof looks

/** Between the failures of now and the full limits. */
const LEFT_FAILED = 70

/** Problems of the same severity are ordered by the number of jobs that they harm. */
const weigh = (severity: number, jobs: number): number => severity + Math.min(9, jobs / 1_000)

function need(rule: RuleName, said: Omit<Need, 'rule' | 'weight' | 'kind' | 'icon'>, jobs = 0): Need {
  const [severity, kind, icon] = looks[rule]
  return { rule, weight: weigh(severity, jobs), kind, icon, ...said }
}

const MINUTE = 60_000
const OLDEST = MINUTE

const within = ({ points, now }: Known, ms: number): Point[] => points.filter(({ at }) => at > now - ms)

/** Leaves out muted kinds and retried jobs. */
const stillFailed = ({ kinds, queues, now }: Known, failed: number): number =>
  Math.min(failed, kinds ? sum(kinds, (kind) => recentOf(kind, now)) : sum(queues, ({ counts }) => counts.failed))

function shareText({ failed, completed }: FailingClass): string {
  if (completed === 0) return ', and none completed'
  if (!Number.isFinite(completed)) return ''
  return `, at least ${percent(failed / (failed + completed))} of the jobs that ended`
}

const failedPath = (name: string, error?: string): string =>
  `/jobs?status=failed&class=${encodeURIComponent(name)}${error ? `&error=${error}` : ''}`

export const retryAll = (name: string, error?: string) => ({
  act: 'selected',
  at: failedPath(name, error),
  fields: { do: 'retry', fit: 'all' },
  scope: 'admin' as const,
  icon: 'retry',
})

const SOON = 60 * MINUTE

function errorsOf(name: string, kinds: readonly ErrorKind[], [last, previous]: readonly Deploy[] = []) {
  const [{ error, example, message }, ...others] = kinds as [ErrorKind, ...ErrorKind[]]
  const firstAt = Math.min(...kinds.map((kind) => kind.firstAt))
  const only = others.length === 0 ? error : undefined
  const more = only ? '' : ` and ${many(others.length, 'other error')}`
  const isNew = last && firstAt > last.at && firstAt < last.at + SOON
  const since = isNew ? `, new since the ${deployName(last)}${last.author ? ` by ${last.author}` : ''}` : ''
  const buttons: Button[] = [
    { to: failedPath(name, only), text: 'See failed jobs' },
    // A retry on the same version would fail again.
    isNew && previous
      ? { to: `${deployPath(last)}#back`, text: 'Roll back' }
      : { ...retryAll(name, only), text: 'Retry all' },
  ]
  return { more: `“${example || message}”${more}${since}`, buttons }
}

function failingOf(failing: FailingClass, deploys?: readonly Deploy[]): Need {
  const { class: name, failed, firstAt } = failing
  const kinds = failing.kinds.map(({ kind }) => kind)
  return need(
    'failing',
    {
      name,
      text: `${many(failed, 'job')} of {} failed in the last 15 minutes${shareText(failing)}.`,
      ...errorsOf(name, kinds, deploys),
      since: firstAt,
    },
    failed,
  )
}

export const failing: Rule = (known) => {
  const { kinds = [], classes, pointsByQueue: points = {}, now } = known
  const byClass = failingClasses({ kinds, classes, points, now })
  if (byClass.length > 0) return byClass.map((one) => failingOf(one, known.deploys))
  const recent = within(known, FAILURES.span)
  const failed = stillFailed(
    known,
    sum(recent, ({ failed }) => failed),
  )
  const all = sum(recent, ({ failed }) => failed) + sum(recent, ({ completed }) => completed)
  if (failed < FAILURES.least || failed / all <= FAILURES.share) return []
  const first = recent.find((point) => point.failed > 0)
  return [
    need('failing', {
      name: `${count(failed)} of ${count(all)} jobs`,
      subject: 'jobs',
      text: '{} failed in the last 15 minutes.',
      more: `${percent(failed / all)} of the jobs that ended`,
      since: first?.at,
      buttons: [{ to: '/jobs?status=failed', text: 'See failed jobs' }],
    }),
  ]
}

/** Classes that were failing, and whose failed jobs were neither retried nor muted. These classes are not alerts. */
export function leftFailed({ kinds = [], classes, deploys, now }: Known, needs: readonly Need[]): Need[] {
  // Callbacks have their own rule.
  const told = [CALLBACKS.class, ...needs.flatMap(({ rule, name }) => (rule === 'failing' ? name : []))]
  return [...Map.groupBy(kinds, (kind) => kind.class)]
    .filter(([name, own]) => !told.includes(name) && wasFailing(name, own, { kinds, classes, points: {}, now }))
    .map(([name, own]): Need => {
      const ago = about(now - Math.max(...own.map(({ lastAt }) => lastAt)))
      const jobs = sum(own, ({ count }) => count)
      return {
        rule: 'failed',
        weight: weigh(LEFT_FAILED, jobs),
        kind: 'suspended',
        icon: 'stop',
        name,
        text: `${many(jobs, 'job')} of {} are failed, the last ${ago} ago.`,
        ...errorsOf(name, own, deploys),
      }
    })
}

function lostByClass({ classes = [], now }: Known): string {
  const from = Math.floor(now / (60 * MINUTE) - 1) * 60 * MINUTE
  const lost = new Map<string, number>()
  for (const { class: name, hours = [] } of classes)
    for (const hour of hours)
      if (name !== null && hour.at >= from && hour.lost > 0) lost.set(name, (lost.get(name) ?? 0) + hour.lost)
  const most = [...lost].sort(([, a], [, b]) => b - a).slice(0, 3)
  return most.length > 0 ? `Classes: ${most.map(([name]) => name).join(', ')}. ` : ''
}

export const lostRuns: Rule = (known) => {
  const lost = sum(within(known, 60 * MINUTE), ({ lost }) => lost)
  if (lost === 0) return []
  return [
    need(
      'lost',
      {
        name: many(lost, 'run'),
        subject: 'runs',
        text: '{} lost in the last hour.',
        more: `${lostByClass(known)}Their leases ended without a commit, because a lane or worker stopped or could not commit. They are retried, unless their job has failed`,
        since: within(known, 60 * MINUTE).find((point) => point.lost > 0)?.at,
        buttons: [{ to: '/log', text: 'Open the log' }],
      },
      lost,
    ),
  ]
}

const callbacksGivenUp: Rule = ({ givenUp, moreGivenUp = false }) => {
  const hosts = Map.groupBy(givenUp, ({ url }) => (URL.canParse(url) ? new URL(url).host : url))
  return [...hosts].map(([host, failed]): Need => {
    const error = failed[0]!.lastError
    return need(
      'callbacks',
      {
        name: host,
        text: `${moreGivenUp ? 'At least ' : ''}${many(failed.length, 'callback')} to {} ran out of attempts.`,
        more: error ? `Last response: ${error}` : undefined,
        since: Math.min(...failed.map(({ endedAt, createdAt }) => endedAt ?? createdAt)),
        buttons: [
          {
            to: `/callbacks?state=FAILED&host=${encodeURIComponent(host)}`,
            text: failed.length === 1 ? 'See it' : 'See them',
          },
          { act: 'resend', at: '/callbacks', fields: { host }, scope: 'write', icon: 'retry', text: 'Resend' },
        ],
      },
      failed.length,
    )
  })
}

/** A schedule that failed once usually recovers. */
export const IN_A_ROW = 2

const failingSchedules: Rule = ({ schedules }) =>
  schedules
    .filter(({ failing, status, failedInARow = 0 }) => failing && (failedInARow >= IN_A_ROW || status === 'failed'))
    .map(
      ({ job, class: name, lastRun, aliases, status, failedInARow = 0 }): Need =>
        need('schedule', {
          name: aliases[0] ?? name,
          text:
            status === 'failed'
              ? 'Schedule {} has failed, and no longer repeats.'
              : `Schedule {} failed ${count(failedInARow)} times in a row.`,
          since: lastRun?.endedAt,
          buttons: [
            { to: `/jobs/${job}?tab=runs`, text: 'Why' },
            {
              act: 'run',
              at: '/schedules',
              fields: { job: String(job) },
              scope: 'write',
              icon: 'play',
              text: 'Run now',
            },
          ],
        }),
    )

const lateSchedules: Rule = ({ schedules }) =>
  schedules
    .filter(({ lateAt }) => lateAt !== undefined)
    .map(({ job, class: name, aliases, lateAt, reason }) =>
      need('late', {
        name: aliases[0] ?? name,
        text: 'Schedule {} is more than five minutes late.',
        more: reason ? lineOf(reason).text : undefined,
        since: lateAt,
        buttons: [{ to: `/jobs/${job}`, text: 'Why' }],
      }),
    )

/** Time that a limit must be full, in milliseconds. Unknown for data of older versions. */
const FULL = 5 * MINUTE

const fullLimits: Rule = ({ limits, now }) =>
  limits
    .filter((limit) => isFull(limit) && now - (limit.waitedSince ?? 0) >= FULL)
    .map(
      ({ key, running, concurrency, waiting, waitedSince }): Need =>
        need(
          'limit',
          {
            name: key,
            text: `Limit {} is full: ${count(running)} of ${count(concurrency!)}.`,
            more: many(waiting, 'job is waiting', 'jobs are waiting'),
            since: waitedSince ?? undefined,
            buttons: [
              { to: limitPath(key), text: 'See waiting jobs' },
              { to: `/limits?change=${encodeURIComponent(key)}`, text: 'Change' },
            ],
          },
          waiting,
        ),
    )

/** Includes jobs that wait for a limit, but not scheduled jobs. */
export const waitingIn = ({ counts }: QueueView): number => counts.queued - counts.scheduled

const pausedQueues: Rule = ({ queues, now }) =>
  queues
    .filter((queue) => queue.paused && waitingIn(queue) > 0)
    .map(
      (queue): Need =>
        need(
          'paused',
          {
            name: queue.name,
            text: 'Queue {} is paused.',
            more: many(waitingIn(queue), 'job is waiting', 'jobs are waiting'),
            since: queue.oldestReady ?? now,
            buttons: [
              {
                act: 'resume',
                at: '/queues',
                fields: { queue: queue.name },
                scope: 'admin',
                icon: 'play',
                text: 'Resume',
              },
            ],
          },
          waitingIn(queue),
        ),
    )

/** In a queue for lanes and pull workers, `oldestReady` may belong to either. */
function slowOf(queue: QueueView, now: number): Need {
  const { name, lanes, maxLanes, oldestReady, counts } = queue
  const isPull = counts.pull > 0 && counts.pull >= readyIn(queue)
  const isBusy = lanes >= maxLanes
  const why = isPull
    ? ''
    : counts.pull > 0
      ? `${many(counts.pull, 'job waits', 'jobs wait')} for a pull worker; `
      : isBusy
        ? `All ${count(maxLanes)} lanes are open; `
        : 'Lanes are free; '
  return need(
    isPull ? 'unclaimed' : isBusy ? 'busy' : 'slow',
    {
      name,
      text: `A job in queue {} has ${isPull ? 'waited for a pull worker' : 'been ready'} for ${about(now - oldestReady!)}.`,
      more: `${why}${many(waitingIn(queue), 'job is waiting', 'jobs are waiting')}`,
      since: oldestReady!,
      buttons: [
        { to: queuePath(name), text: 'See the queue' },
        ...(isPull ? [{ to: '/workers', text: 'See pull workers' }] : []),
      ],
    },
    waitingIn(queue),
  )
}

export const isSlow = ({ paused, oldestReady }: QueueView, now: number): boolean =>
  !paused && oldestReady !== null && now - oldestReady > OLDEST

const slowQueues: Rule = ({ queues, now }) =>
  queues.filter((queue) => isSlow(queue, now)).map((queue) => slowOf(queue, now))

const silentBells: Rule = ({ bells }) =>
  bells
    ? [
        need('bells', {
          name: 'QStash',
          text: '{} refuses bells.',
          more: `${bells.why}; ${many(bells.refused, 'request')} refused in a row. Until it accepts them, ticks serve the queues`,
          buttons: [{ to: '/doctor', text: 'Open doctor' }],
        }),
      ]
    : []

/** Ticks come once a minute, and every other tick is recorded. */
const TICK = 3 * MINUTE

export const isTickMissing = (tickAt: number | null, now: number): boolean => tickAt === null || now - tickAt > TICK

/** If no callback has arrived yet, older jobs show that one was expected. */
const wasInUse = ({ points, now }: Known): boolean => points.some(({ at, made }) => made > 0 && at < now - TICK)

export const TICK_REMEDY = 'Check the cron trigger of the Worker and the schedule in QStash'

const missingTick: Rule = (known) => {
  const { tickAt, now } = known
  if (tickAt === undefined || !isTickMissing(tickAt, now) || (tickAt === null && !wasInUse(known))) return []
  return [
    need('tick', {
      name: 'tick',
      text: tickAt === null ? 'No {} has arrived yet.' : 'The {} is missing: one should arrive every minute.',
      more: `The tick finds lost runs and due jobs. ${TICK_REMEDY}`,
      since: tickAt ?? undefined,
      buttons: [{ to: '/doctor', text: 'Open doctor' }],
    }),
  ]
}

export const wentBack: Rule = ({ restored, now }) =>
  restored && now - restored.noticedAt < 24 * 60 * MINUTE
    ? [
        need('restored', {
          name: 'Redis',
          text: '{} has lost recent data.',
          more: `Jobs ${restored.lost.from} to ${restored.lost.to} are lost`,
          since: restored.noticedAt,
          buttons: [{ to: '/doctor', text: 'Open doctor' }],
        }),
      ]
    : []

export const openBreakers: Rule = ({ breakers }) =>
  breakers.map(
    ({ host, of, failures }): Need =>
      need('breaker', {
        name: host,
        text: `{} keeps failing and is not called: ${many(failures, 'failure')} in a row.`,
        more: `Called by ${of === 'callbacks' ? 'callbacks' : 'push workers'}; retried automatically`,
        buttons: [
          { to: '/limits#breakers', text: 'See it' },
          { act: 'reset', at: '/limits', fields: { host, of }, scope: 'admin', icon: 'retry', text: 'Resume calls' },
        ],
      }),
  )

export const foundWords = (faults: NonNullable<Health['examined']>['faults']): string =>
  Object.entries(faults)
    .map(([kind, n]) => many(n, kind, kind === 'alias' ? 'aliases' : `${kind}s`))
    .join(', ')

export const faultsIn = (faults: NonNullable<Health['examined']>['faults']): number =>
  sum(Object.values(faults), (n) => n)

const faultsFound: Rule = ({ examined }) => {
  const found = examined ? faultsIn(examined.faults) : 0
  if (!examined || found === 0) return []
  return [
    need('doctor', {
      name: many(found, 'fault'),
      subject: 'faults',
      text: 'The doctor found {}.',
      more: `At ${foundWords(examined.faults)}`,
      since: examined.since ?? undefined,
      buttons: [{ to: `/doctor?cursor=${encodeURIComponent(examined.cursor ?? '')}`, text: 'Open doctor' }],
    }),
  ]
}

const rules: readonly Rule[] = [
  wentBack,
  failing,
  missingTick,
  lostRuns,
  silentBells,
  callbacksGivenUp,
  openBreakers,
  failingSchedules,
  lateSchedules,
  faultsFound,
  slowQueues,
  fullLimits,
  pausedQueues,
]

export const inOrder = (needs: Need[], now: number): Need[] =>
  needs.toSorted((a, b) => b.weight - a.weight || (a.since ?? now) - (b.since ?? now))

export const needsOf = (known: Known): Need[] =>
  inOrder(
    rules.flatMap((rule) => rule(known)),
    known.now,
  )

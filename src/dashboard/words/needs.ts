import { MINUTE } from '../../core/units.ts'
import type { CurrentRun, Health, QueueView } from '../../engine/engine.ts'
import { failing, lostRuns } from './class-failures.ts'
import { sum } from './counts.ts'
import { isFull } from './limit.ts'
import { type Button, type Known, type Need, need, type Rule, resumeQueue } from './need.ts'
import { callbacksPath, changeLimitPath, jobPath, limitPath, pullersPath, queuePath } from './paths.ts'
import { readyIn, waitingIn } from './queue.ts'
import { timesLonger, usualOf } from './stuck.ts'
import { about, count, hostName, jobsWait, many } from './text.ts'
import { lineOf } from './why.ts'

const OLDEST = MINUTE

const DOCTOR = [{ to: '/doctor', text: 'Open doctor' }]

const callbacksGivenUp: Rule = ({ givenUp, moreGivenUp = false }) => {
  const hosts = Map.groupBy(givenUp, ({ host, url }) => host ?? URL.parse(url)?.host ?? url)
  return [...hosts].map(([host, failed]): Need => {
    const error = failed[0]!.lastError
    return need('callbacks', {
      name: hostName(host),
      subject: host,
      text: `${moreGivenUp ? 'At least ' : ''}${many(failed.length, 'callback')} to {} ran out of attempts.`,
      more: error ? `Last response: ${error}` : undefined,
      since: Math.min(...failed.map(({ endedAt, createdAt }) => endedAt ?? createdAt)),
      buttons: [
        { to: callbacksPath({ state: 'FAILED', host }), text: failed.length === 1 ? 'See it' : 'See them' },
        { act: 'resend', at: '/callbacks', fields: { host }, scope: 'write', icon: 'retry', text: 'Resend' },
      ],
      jobs: failed.length,
    })
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

/** A limit that is full for this long is a problem. */
const FULL = 5 * MINUTE

const fullLimits: Rule = ({ limits, now }) =>
  limits
    .filter((limit) => isFull(limit) && now - (limit.waitedSince ?? 0) >= FULL)
    .map(
      ({ key, running, concurrency, waiting, waitedSince }): Need =>
        need('limit', {
          name: key,
          text: `Limit {} is full: ${count(running)} of ${count(concurrency!)}.`,
          more: jobsWait(waiting),
          since: waitedSince ?? undefined,
          buttons: [
            { to: limitPath(key), text: 'See waiting jobs' },
            { to: changeLimitPath(key), text: 'Change' },
          ],
          jobs: waiting,
        }),
    )

const pausedQueues: Rule = ({ queues, now }) =>
  queues
    .filter((queue) => queue.paused && waitingIn(queue) > 0)
    .map(
      (queue): Need =>
        need('paused', {
          name: queue.name,
          text: 'Queue {} is paused.',
          more: jobsWait(waitingIn(queue)),
          since: queue.oldestReady ?? now,
          buttons: [resumeQueue(queue.name)],
          jobs: waitingIn(queue),
        }),
    )

/** In a queue for lanes and pull workers, the oldest ready job may wait for either. */
function slowOf(queue: QueueView, now: number): Need {
  const { name, lanes, maxLanes, oldestReady, counts } = queue
  const isPull = counts.pull > 0 && counts.pull >= readyIn(queue)
  const isBusy = lanes >= maxLanes
  const why =
    counts.pull > 0
      ? `${jobsWait(counts.pull)} for a pull worker; `
      : isBusy
        ? `All ${count(maxLanes)} lanes are open; `
        : 'Lanes are free; '
  return need(isPull ? 'unclaimed' : isBusy ? 'busy' : 'slow', {
    name,
    text: `A job in queue {} has ${isPull ? 'waited for a pull worker' : 'been ready'} for ${about(now - oldestReady!)}.`,
    more: isPull ? many(counts.pull, 'job waits for one', 'jobs wait for one') : `${why}${jobsWait(waitingIn(queue))}`,
    since: oldestReady!,
    buttons: [
      { to: queuePath(name), text: 'See the queue' },
      ...(isPull ? [{ to: pullersPath(name), text: 'See pull workers' }] : []),
    ],
    jobs: waitingIn(queue),
  })
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
          more: `${bells.why}; ${many(bells.refused, 'request')} refused in a row. Until QStash accepts bells, ticks serve the queues`,
          buttons: DOCTOR,
        }),
      ]
    : []

/** Ticks come once a minute, and every other tick is recorded. */
const TICK = 3 * MINUTE

export const isTickMissing = (tickAt: number | null, now: number): boolean => tickAt === null || now - tickAt > TICK

/** If jobs are older than `TICK`, a tick should have arrived. */
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
      buttons: DOCTOR,
    }),
  ]
}

const wentBack: Rule = ({ restored, now }) =>
  restored && now - restored.noticedAt < 24 * 60 * MINUTE
    ? [
        need('restored', {
          name: 'Redis',
          text: '{} has lost recent data.',
          more: `Jobs ${restored.lost.from} to ${restored.lost.to} are lost`,
          since: restored.noticedAt,
          buttons: DOCTOR,
        }),
      ]
    : []

const openBreakers: Rule = ({ breakers }) =>
  breakers.map(
    ({ host, of, failures }): Need =>
      need('breaker', {
        name: hostName(host),
        subject: host,
        text: `{} keeps failing and is not called: ${many(failures, 'failure')} in a row.`,
        more: `Used by ${of === 'callbacks' ? 'callbacks' : 'push workers'}; retried automatically`,
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

export const faultsIn = (faults: NonNullable<Health['examined']>['faults']): number => sum(Object.values(faults))

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

export function stuckRuns(runs: readonly CurrentRun[], { classes = [], now }: Known): Need[] {
  const stuck = runs.filter((run) => timesLonger(run, usualOf(run, classes) ?? Infinity, now) !== undefined)
  const byClass = Map.groupBy(stuck, ({ queue, class: name }) => `${name} ${queue}`)
  const [most] = [...byClass].sort(([a, { length: m }], [b, { length: n }]) => n - m || (a < b ? -1 : 1))
  if (!most) return []
  const alike = most[1].toSorted((a, b) => a.startedAt - b.startedAt)
  const { job, class: name, startedAt } = alike[0]!
  const rest = stuck.length - alike.length
  const others = rest > 0 ? ` and ${many(rest, 'run of another class', 'runs of other classes')}` : ''
  const buttons: Button[] = [{ to: jobPath(job), text: alike.length === 1 ? 'See it' : 'See the oldest' }]
  if (stuck.length > 1) buttons.push({ to: '/jobs?status=running', text: 'See running jobs' })
  return [
    need('stuck', {
      name,
      text: `${many(alike.length, 'run')} of {}${others} may be stuck.`,
      more: `Usually ${about(usualOf(alike[0]!, classes)!)} or less`,
      since: startedAt,
      buttons,
      jobs: stuck.length,
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

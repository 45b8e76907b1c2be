import { isCallbackQueue } from '../../../src/core/callback.ts'
import type { ErrorKind } from '../../../src/engine/engine.ts'
import { ORIGIN } from '../kit.ts'
import { chart } from './chart.ts'
import { counted, type Facts, having, type Job, messageOf, openIn, waitingIn } from './facts.ts'
import { inOrder, queueRow } from './queues.ts'
import type { Scene } from './scene.ts'
import type { Claims } from './survey.ts'
import { arranged, dayOf, HOUR, hourOf, MINUTE, n, percent, row, short, since, sum, time, took } from './words.ts'

const fullIn = ({ limits }: Facts) =>
  limits.filter(({ concurrency, running, waiting }) => concurrency !== null && running >= concurrency && waiting > 0)

const heldIn = (facts: Facts, now: number) =>
  facts.queues.filter(({ name, paused, oldestReady }) => {
    const { ready, limited } = waitingIn(facts, { queue: name })
    return paused ? ready + limited > 0 : oldestReady !== null && now - oldestReady > MINUTE
  })

const SHARED = 15_000

const signsAt = (facts: Facts, now: number): string[] =>
  [heldIn(facts, now), fullIn(facts)].flatMap((of) => (of.length ? n(of.length) : []))

/** Pages cache these numbers for some seconds, so the numbers of 15 seconds ago are accepted too. */
const signsOf =
  (facts: Facts, first: readonly string[] = []) =>
  (found: readonly string[]): string[] => {
    const [now, before] = [facts.now, facts.now - SHARED].map((at) => [...first, ...signsAt(facts, at)]) as [
      string[],
      string[],
    ]
    const numbers = found.map((text) => text.replace(/^\{.*\}/, ''))
    return numbers.join() === before.map((text) => text.replace(/^\{.*\}/, '')).join() ? before : now
  }

export const morePage = (facts: Facts): Claims => {
  const failed = n(counted(facts, { status: 'failed' }))
  return { '.pages .n': signsOf(facts, [`{${failed} failed}${failed}`]) }
}

export const frame = (facts: Facts): Claims => {
  const failed = n(counted(facts, { status: 'failed' }))
  return {
    '#side .n.bad': [`{${failed} failed}${failed}`],
    '.crumbs .host': [new URL(ORIGIN).host],
    '#side .n.warn': signsOf(facts),
    '.side-foot > .row:first-child': [`Redis is up; ${n(facts.jobs.length)} jobs`],
  }
}

const RECENT = 15 * MINUTE
const minuteOf = (at: number): number => Math.floor(at / MINUTE) * MINUTE

type Need = [words: string, numbers: string]

function failingIn(facts: Facts): Need[] {
  const isRecent = ({ endedAt }: Job) => endedAt !== null && minuteOf(endedAt) > facts.now - RECENT
  const failed = Map.groupBy(having(facts, { status: 'failed' }).filter(isRecent), (job) => job.class)
  return [...failed].flatMap(([name, jobs]): Need[] => {
    const completed = counted(facts, { status: 'completed', class: name })
    const share = jobs.length / (jobs.length + completed)
    if (jobs.length >= 20 ? share <= 0.01 : jobs.length < 3 || share < 0.5) return []
    const kinds = new Set(jobs.map(messageOf)).size
    const more = kinds > 1 ? `and ${n(kinds - 1)} more errors` : ''
    const first = time(minuteOf(Math.min(...jobs.map(({ endedAt }) => endedAt!))))
    return [[`of ${name} failed`, `${n(jobs.length)} 15 ${completed === 0 ? '' : n(completed)} ${more} ${first}`]]
  })
}

function stuckIn(facts: Facts): Need[] {
  const usual = (job: Job) =>
    facts.classes.find((row) => row.queue === job.queue && row.class === job.class)?.took?.p95 ?? Infinity
  const stuck = having(facts, { status: 'running' }).filter((job) => {
    const ranFor = facts.now - job.ranAt!
    return ranFor >= MINUTE && ranFor >= 10 * usual(job)
  })
  const classes = [...Map.groupBy(stuck, ({ queue, class: name }) => `${name} ${queue}`)]
  const [most] = classes.sort(([a, { length: m }], [b, { length: n }]) => n - m || (a < b ? -1 : 1))
  if (!most) return []
  const rest = stuck.length - most[1].length
  const oldest = time(Math.min(...most[1].map(({ ranAt }) => ranAt!)))
  return [['may be stuck', `${n(most[1].length)} ${took(usual(most[1][0]!))} ${rest > 0 ? n(rest) : ''} ${oldest}`]]
}

async function needsIn(facts: Facts, { site: { engine } }: Scene): Promise<Need[]> {
  const { now, queues, health } = facts
  const { callbacks } = await engine.callbacks.list({ state: 'FAILED', limit: 50 })
  const hosts = Map.groupBy(callbacks, ({ url }) => new URL(url).host)
  const waits = (queue: string) => {
    const { ready, limited } = waitingIn(facts, { queue })
    return ready + limited
  }
  const tickAt = health.tickAt ?? now
  const slow = queues.filter(({ paused, oldestReady }) => !paused && oldestReady !== null && now - oldestReady > MINUTE)
  return [
    ...failingIn(facts),
    ...stuckIn(facts),
    ...(now - tickAt > 3 * MINUTE ? [['tick is missing', time(tickAt)] satisfies Need] : []),
    ...[...hosts].map(([host, failed]): Need => {
      const first = time(Math.min(...failed.map(({ endedAt }) => endedAt!)))
      return [`to ${host}`, `${n(failed.length)} ${host} ${failed[0]!.lastError} ${first}`]
    }),
    ...slow.map(({ name, oldestReady: at }): Need => {
      const { ready, pull } = waitingIn(facts, { queue: name })
      const counts = [...(pull > 0 ? [n(pull)] : []), ...(pull > 0 && pull >= ready ? [] : [n(waits(name))])]
      return [`queue ${name}`, `${since(at!)} ${counts.join(' ')} ${time(at!)}`]
    }),
    ...fullIn(facts)
      .filter(({ fullSince }) => now - (fullSince ?? 0) >= 5 * MINUTE)
      .map(({ key, running, concurrency, fullSince }): Need => {
        const waiting = n(counted(facts, { waitingAt: key }))
        return [`Limit ${key}`, `${n(running)} of ${n(concurrency!)} ${waiting} ${time(fullSince!)}`]
      }),
    ...queues
      .filter(({ name, paused }) => paused && waits(name) > 0)
      .map(({ name, oldestReady }): Need => [`Queue ${name} is paused`, `${n(waits(name))} ${time(oldestReady!)}`]),
  ]
}

const WAIT_BUCKETS_MS = [10, 100, 1_000, 5_000, 30_000, MINUTE, 10 * MINUTE, HOUR, Infinity]

function tiles(facts: Facts): Claims {
  const open = openIn(facts)
  const [, , ready, pull, limited, inPaused, running] = open
  const count = (status: Job['status']) => counted(facts, { status })
  const [completed, failed, terminated] = [count('completed'), count('failed'), count('terminated')]
  const ended = completed + failed + terminated
  const waits = Object.values(facts.stats.waits)
  const all = WAIT_BUCKETS_MS.map((_, i) => sum(waits.map((own) => own[i] ?? 0)))
  const below = (share: number) => WAIT_BUCKETS_MS.find((_, i) => sum(all.slice(0, i + 1)) >= sum(all) * share)!
  const [half, most] = [below(0.5), below(0.95)]
  const rate = ended / 240
  return {
    '.tiles .big': [
      short(ready + pull + limited + inPaused),
      short(running),
      `≈ ${rate < 10 ? rate.toFixed(1) : short(Math.round(rate))}per minute`,
      short(failed),
      `≤ ${took(half)}${most === half ? '' : ` ≤ ${took(most)}`}`,
    ],
    '.tiles .dt': [
      'Waiting to start',
      'Running',
      'Ended',
      'Failed',
      `Time to start today, ${most === half ? 'p95' : 'p50 and p95'}`,
    ],
    '.tiles .sub': [
      `${n(limited)} at limits, ${n(inPaused)} paused`,
      `${n(running)} in pull workers, ${n(sum(facts.queues.map(({ lanes }) => lanes)))} of ${n(sum(facts.queues.map(({ maxLanes }) => maxLanes)))} lanes open`,
      `${n(ended)} ended in 4 h`,
      `of ${n(ended)} ended in 4 h, ${percent(failed / ended)}`,
      `${n(sum(facts.classes.map(({ counts }) => counts.runs)) + running)} runs since midnight UTC`,
    ],
    '.where h2': [`Status of ${n(sum(open))} open jobs`],
    '.where .n': open.map(n),
  }
}

export function kinds(facts: Facts, errors = facts.errors): Claims {
  const failedOf = (kind: ErrorKind) =>
    having(facts, { status: 'failed', class: kind.class }).filter((job) =>
      [kind.example, kind.message].includes(messageOf(job)),
    )
  return {
    '.kinds .tag:not(.new)': [n(errors.length)],
    '.kinds tbody tr': errors.map((kind) => {
      const failed = failedOf(kind)
      const [all, ends] = [n(failed.length), failed.map(({ endedAt }) => endedAt!)]
      const times = `${time(Math.min(...ends))} | ${time(Math.max(...ends))}`
      return `${kind.example || kind.message} | ${kind.class} | ${all} | {${all} in 6 h}${all} in 6 h | ${times} | `
    }),
  }
}

/** Jobs of one claim started at the same time, so the page may list them in any order. */
const longest = (facts: Facts) => (found: readonly string[]) =>
  having(facts, { status: 'running' })
    .toSorted((a, b) => a.ranAt! - b.ranAt!)
    .slice(0, 6)
    .map((expected, i) => {
      const alike = having(facts, { status: 'running', ranAt: expected.ranAt })
      const own = alike.find(({ id }) => found[i]?.includes(`#${id} `)) ?? expected
      return row('', `${own.class} #${own.id}`, time(own.ranAt!), '')
    })

export async function overview(facts: Facts, scene: Scene): Promise<Claims> {
  const needs = await needsIn(facts, scene)
  const problems = needs.length
  const isUsed = ({ name, counts }: Facts['queues'][number]) =>
    !isCallbackQueue(name) || counts.queued + counts.running + counts.suspended + counts.failed > 0
  return {
    ...tiles(facts),
    ...chart(facts),
    '.head .note': [`${dayOf(facts.now)} ${new Date(facts.now).getUTCFullYear()}, ${hourOf(facts.now)}`],
    '#look': [`${n(problems)} problems to look at`],
    '.alerts li': arranged(Object.fromEntries(needs)),
    '.alerts summary': problems > 6 ? [`${n(problems - 6)} more`] : [],
    ...kinds(facts),
    'main a[href="/ui/queues"].link': [`All ${n(facts.queues.length)}`],
    '.cols.c21:not(.stretch) > .card:first-child tbody tr': inOrder(facts)
      .filter(isUsed)
      .slice(0, 8)
      .map((queue) => queueRow(facts, queue)),
    '.cols.c21:not(.stretch) > .card:last-child tbody tr': longest(facts),
  }
}

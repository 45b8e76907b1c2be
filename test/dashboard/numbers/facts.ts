import type { JobView, LimitRow } from '../../../src/engine/engine.ts'
import type { Engine } from '../../../src/engine/index.ts'
import type { Scene } from './scene.ts'
import { HOUR, MINUTE, n, since, sum, took } from './words.ts'

const AT_ONCE = 1_000
export const MAX_LOG_ENTRIES = 100

const kept = [
  'id',
  'status',
  'queue',
  'class',
  'group',
  'labels',
  'priority',
  'attempt',
  'createdAt',
  'ranAt',
  'endedAt',
  'waitingAt',
  'runAt',
  'error',
] as const

export type Job = Pick<JobView, (typeof kept)[number]>

/** There may be 100,000 jobs, so only the needed members are kept. */
export async function allJobs(engine: Engine): Promise<Job[]> {
  const found: Job[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: Awaited<ReturnType<Engine['jobs']['list']>> = await engine.jobs.list({ limit: AT_ONCE, cursor })
    for (const job of page.jobs) found.push(Object.fromEntries(kept.map((name) => [name, job[name]])) as Job)
    cursor = page.cursor
  }
  return found
}

export type Facts = Awaited<ReturnType<typeof factsOf>>

export async function factsOf({ site: { engine } }: Scene, jobs: readonly Job[]) {
  const now = Date.now()
  const [
    { queues },
    stats,
    series,
    { limits: rooms, groups },
    { classes },
    { errors },
    { processes, others },
    callbacks,
    health,
    { deployments },
    log,
    { workers },
  ] = await Promise.all([
    engine.queues.list(),
    engine.stats.totals(),
    engine.stats.series({ step: 'minute', details: true }),
    engine.limits.withGroups(undefined, { details: true }),
    engine.stats.classes({ hours: true }),
    engine.errors.list({ details: true, muted: true }),
    engine.processes.list(),
    engine.callbacks.counts(),
    engine.health(),
    engine.deployments.list(),
    engine.log.read({ limit: MAX_LOG_ENTRIES }),
    engine.workers.list(),
  ])
  const pulled = new Set(workers.flatMap(({ queue, class: name, pull }) => (pull ? `${queue}/${name}` : [])))
  const deploys = deployments
    .flatMap(({ id, deploys }) => deploys.map((one) => ({ ...one, id })))
    .sort((a, b) => b.at - a.at)
  const limits = rooms as LimitRow[]
  return {
    now,
    jobs,
    queues,
    stats,
    series,
    limits,
    groups,
    classes,
    errors,
    processes,
    others,
    callbacks,
    health,
    deploys,
    log,
    pulled,
  }
}

export const worstFirst = ({ classes }: Facts): Facts['classes'] =>
  classes.toSorted((a, b) => b.counts.failed - a.counts.failed)

export const having = ({ jobs }: Facts, of: Partial<Job>): Job[] =>
  jobs.filter((job) => Object.entries(of).every(([name, value]) => job[name as keyof Job] === value))

export const counted = (facts: Facts, of: Partial<Job>): number => having(facts, of).length

/** `pull`: ready jobs that only a pull worker can claim. */
type Waiting = { ready: number; limited: number; later: number; pull: number }

export function waitingIn(facts: Facts, of: Partial<Job> = {}): Waiting {
  const queued = having(facts, { status: 'queued', ...of })
  const limited = queued.filter(({ waitingAt }) => waitingAt !== null).length
  const isLater = ({ runAt }: Job) => runAt !== null && runAt > facts.now
  const later = queued.filter((job) => job.waitingAt === null && isLater(job)).length
  const ready = queued.filter((job) => job.waitingAt === null && !isLater(job))
  const pull = ready.filter((job) => facts.pulled.has(`${job.queue}/${job.class}`)).length
  return { limited, later, ready: ready.length, pull }
}

export function openIn(facts: Facts): [number, number, number, number, number, number, number] {
  const { ready, limited, later, pull: pulled } = waitingIn(facts)
  const paused = facts.queues.filter((queue) => queue.paused).map(({ name }) => waitingIn(facts, { queue: name }))
  const inPaused = sum(paused.map(({ ready }) => ready))
  const pull = pulled - sum(paused.map((one) => one.pull))
  const [suspended, running] = [counted(facts, { status: 'suspended' }), counted(facts, { status: 'running' })]
  return [suspended, later, ready - inPaused - pull, pull, limited, inPaused, running]
}

type Point = Facts['series']['points'][number]

const WIDTH = 4 * HOUR
const endOf = ({ now }: Facts): number => Math.floor(now / MINUTE) * MINUTE + MINUTE

function pointsOf(facts: Facts, queue?: string, columns = 60): Point[][] {
  const points = queue === undefined ? facts.series.points : (facts.series.queues?.[queue] ?? [])
  const [end, width] = [endOf(facts), WIDTH / columns]
  return Array.from({ length: columns }, (_, i) =>
    points.filter(({ at }) => at >= end - (columns - i) * width && at < end - (columns - i - 1) * width),
  )
}

export const columnsOf = (facts: Facts, queue?: string, columns = 60) =>
  pointsOf(facts, queue, columns).map((points, i) => {
    const of = (name: 'completed' | 'failed' | 'runs') => sum(points.map((one) => one[name]))
    const at = endOf(facts) - (columns - i) * (WIDTH / columns)
    return { at, completed: of('completed'), failed: of('failed'), runs: of('runs') }
  })

export const maximaOf = (facts: Facts): number[] =>
  pointsOf(facts).map((points) => Math.max(0, ...points.map(({ longestWait }) => longestWait)))

export const messageOf = ({ error }: Pick<Job, 'error'>): string =>
  error === null ? '' : (JSON.parse(String(error)).message ?? '')

export const ranFor = ({ ranAt, endedAt }: Pick<Job, 'ranAt' | 'endedAt'>): string =>
  ranAt !== null && endedAt !== null && endedAt >= ranAt ? took(endedAt - ranAt) : '–'

const periods: Record<number, string> = { 1000: 'second', 60000: 'minute', 3600000: 'hour', 86400000: 'day' }
export const periodOf = (ms: number): string => periods[ms] ?? took(ms)

export function slotsOf({ concurrency, running, rate, started, fullSince }: Partial<LimitRow> & { running: number }) {
  return [
    concurrency === null || concurrency === undefined ? `${n(running)} running` : `${n(running)} of ${n(concurrency)}`,
    rate && started !== undefined ? `; ${n(started)} of ${n(rate.limit)} in the last ${periodOf(rate.period)}` : '',
    fullSince ? `; full for ${since(fullSince)}` : '',
  ].join('')
}

// The numbers of each page, counted from the jobs as the API lists them, or read from the API.

import { waitBelow } from '../../src/core/waits.ts'
import { about, clock, many, percent, short, span, title } from '../../src/dashboard/words/text.ts'
import type { ErrorKind, JobView, LimitRow, QueueView } from '../../src/engine/engine.ts'
import type { Engine } from '../../src/engine/index.ts'
import { FIRST } from './many-ended.ts'
import type { Scene } from './numbers-scene.ts'
import type { Claims } from './numbers-survey.ts'

const HOUR = 3_600_000
const MINUTE = 60_000
const AT_ONCE = 1_000
/** Entries of the log on a page, and their slices in its chart. */
const [LOG, SLICES] = [100, 40]

const row = (...cells: unknown[]): string => cells.join(' | ').replace(/ +/g, ' ').trim()
const lastOf = (found = ''): string => found.slice(found.lastIndexOf(' |') + 2).trim()
const n = (one: number): string => one.toLocaleString('en-US')
const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

const kept = [
  'id',
  'status',
  'queue',
  'class',
  'group',
  'labels',
  'priority',
  'attempt',
  'ranAt',
  'endedAt',
  'waitingAt',
  'runAt',
  'error',
] as const

export type Job = Pick<JobView, (typeof kept)[number]>

/** All jobs of Redis, newest first. Keeps only some members of each job, because there may be 100,000 jobs. */
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
  const [{ queues }, stats, series, { limits, groups }, { classes }, { errors }, { processes }, callbacks, log] =
    await Promise.all([
      engine.queues.list(),
      engine.stats.totals(),
      engine.stats.series({ step: 'minute', details: true }),
      engine.limits.withGroups(undefined, { details: true }),
      engine.stats.classes({ hours: true }),
      engine.errors.list({ details: true, muted: true }),
      engine.processes.list(),
      engine.callbacks.counts(),
      engine.log.read({ limit: LOG }),
    ])
  return { now: Date.now(), jobs, queues, stats, series, limits, groups, classes, errors, processes, callbacks, log }
}

const order = ['queued', 'running', 'suspended', 'completed', 'failed', 'terminating', 'terminated'] as const

export const having = ({ jobs }: Facts, of: Partial<Job>): Job[] =>
  jobs.filter((job) => Object.entries(of).every(([name, value]) => job[name as keyof Job] === value))

export const counted = (facts: Facts, of: Partial<Job>): number => having(facts, of).length

type Waiting = { ready: number; limited: number; later: number }

function waitingIn(facts: Facts, of: Partial<Job> = {}): Waiting {
  const queued = having(facts, { status: 'queued', ...of })
  const limited = queued.filter(({ waitingAt }) => waitingAt !== null).length
  const later = queued.filter(
    ({ waitingAt, runAt }) => waitingAt === null && runAt !== null && runAt > facts.now,
  ).length
  return { limited, later, ready: queued.length - limited - later }
}

const frame = (facts: Facts): Claims => {
  const [failed, full] = [
    counted(facts, { status: 'failed' }),
    facts.limits.filter(
      ({ concurrency, running, waiting }) => concurrency !== null && running >= concurrency && waiting > 0,
    ),
  ]
  return {
    '#side .n.bad': [`{${n(failed)} failed}${n(failed)}`],
    '#side .n.warn': [n(full.length)],
    '.side-foot > .row:first-child': [`Redis is up; ${n(facts.jobs.length)} jobs`],
  }
}

type Point = Facts['series']['points'][number]

function pointsOf(facts: Facts, queue?: string, columns = 60): Point[][] {
  const points = queue === undefined ? facts.series.points : (facts.series.queues?.[queue] ?? [])
  const end = Math.floor(facts.now / MINUTE) * MINUTE + MINUTE
  const width = (4 * HOUR) / columns
  return Array.from({ length: columns }, (_, i) =>
    points.filter(({ at }) => at >= end - (columns - i) * width && at < end - (columns - i - 1) * width),
  )
}

/** Sums of the columns of a chart of four hours; all columns are equally wide. */
export const columnsOf = (facts: Facts, queue?: string, columns?: number) =>
  pointsOf(facts, queue, columns).map((points) => {
    const of = (name: 'completed' | 'failed' | 'runs') => sum(points.map((one) => one[name]))
    return { completed: of('completed'), failed: of('failed'), runs: of('runs') }
  })

export const maximaOf = (facts: Facts): number[] =>
  pointsOf(facts).map((points) => Math.max(0, ...points.map(({ longestWait }) => longestWait)))

function queueRow(
  facts: Facts,
  { name, mode, paused, lanes, maxLanes }: QueueView,
  oldest: string,
  ends: boolean,
): string {
  const { ready, limited, later } = waitingIn(facts, { queue: name })
  const count = (status: Job['status']) => counted(facts, { queue: name, status })
  const open = `${lanes} of ${maxLanes} lanes are open`
  const ended = `${n(count('completed'))} completed, ${n(count('failed'))} failed`
  return [
    mode === 'pull' ? `${name} pull` : name,
    [
      paused ? 'paused' : mode === 'push' ? `{${open}}${open}` : '',
      mode === 'pull' || count('running') > 0 ? `${n(count('running'))} pulled` : '',
    ]
      .filter(Boolean)
      .join(' '),
    n(ready),
    oldest,
    n(limited),
    n(count('running')),
    n(later),
    n(count('failed')),
    ...(ends ? [`{${ended}}${ended}`] : []),
  ].join(' | ')
}

const queueRows =
  (facts: Facts, ends = true) =>
  (found: readonly string[]): string[] =>
    found.map((row) => {
      const cells = row.split(' | ')
      const queue = facts.queues.find(({ name }) => name === cells[0]!.split(' ')[0])!
      return queueRow(facts, queue, cells[3]!, ends)
    })

function chart(facts: Facts, queue?: string): Claims {
  const columns = columnsOf(facts, queue)
  const [completed, failed] = (['completed', 'failed'] as const).map((name) => sum(columns.map((one) => one[name])))
  const said = `${n(completed!)} jobs completed and ${n(failed!)} failed in the last 4 h`
  const most = (name: 'completed' | 'failed') => Math.max(...columns.map((one) => one[name])) / 4
  const above = (least: number) => (found: readonly string[]) =>
    found.map((text) => (Number.parseFloat(text.replaceAll(',', '')) >= least ? text : `at least ${least}`))
  const begins = (found: readonly string[]) => found.map((text) => `${said}${text.slice(text.indexOf('4 h') + 3)}`)
  const full = columns.filter((one) => one.completed + one.failed > 0)
  return {
    '.plot > svg@aria-label': begins,
    '#table caption': begins,
    '.ylab.y1': above(most('completed')),
    '.ylab.y2': above(most('failed')),
    '.plot .hit': columns.flatMap((one) => [
      ...(one.completed ? [`${many(one.completed, 'job')} completed`] : []),
      ...(one.failed ? [`${many(one.failed, 'job')} failed`] : []),
    ]),
    '#table tbody tr': (found) =>
      full.map((one, i) => `${found[i]?.split(' | ')[0]} | ${n(one.completed)} | ${n(one.failed)}`),
  }
}

/** The current numbers of an alert. Quoted text and durations stay as the page shows them. */
function alertOf(facts: Facts, text: string): string {
  const queue = facts.queues.find(({ name }) => new RegExp(`queue ${name}\\b`, 'i').test(text))
  const waiting = queue && waitingIn(facts, { queue: queue.name })
  if (waiting) return `${/\d+ (?:s|min|h)\b/.exec(text)?.[0] ?? ''} ${n(waiting.ready + waiting.limited)}`
  const isOfErrors = text.includes('“')
  const limit = !isOfErrors && facts.limits.find(({ key }) => text.includes(key))
  if (limit) return `${n(limit.running)} ${n(limit.concurrency!)} ${n(counted(facts, { waitingAt: limit.key }))}`
  const host = /127[\d.:]+/.exec(text)?.[0]
  if (host && !isOfErrors) return `${n(facts.callbacks.FAILED)} ${host} ${text.slice(text.indexOf(host) + host.length)}`
  const name = facts.errors.find((one) => text.includes(one.class))?.class
  if (!name) return `0 ${text}`
  const of = (status: Job['status']) => counted(facts, { class: name, status })
  const share = of('completed') === 0 ? '' : percent(of('failed') / (of('failed') + of('completed')))
  return `${n(of('failed'))} 15 ${share} ${/“.*/.exec(text)?.[0] ?? ''}`
}

function tiles(facts: Facts): Claims {
  const { ready, limited } = waitingIn(facts)
  const paused = facts.queues.filter((queue) => queue.paused)
  const inPaused = sum(paused.map(({ name }) => waitingIn(facts, { queue: name }).ready))
  const count = (status: Job['status']) => counted(facts, { status })
  const [completed, failed, terminated] = [count('completed'), count('failed'), count('terminated')]
  const ended = completed + failed + terminated
  const waits = Object.values(facts.stats.waits)
  const all = Array.from({ length: 9 }, (_, i) => sum(waits.map((own) => own[i] ?? 0)))
  const [half, most] = [waitBelow(all, 0.5)!, waitBelow(all, 0.95)!]
  // All runs of the scene are held by pull workers.
  const pulled = counted(facts, { status: 'running' })
  const later = waitingIn(facts).later
  const rate = ended / 240
  return {
    '.tiles .big': [
      short(ready + limited),
      short(count('running')),
      `${rate < 10 ? rate.toFixed(1) : short(Math.round(rate))}per minute`,
      short(failed),
      `≤ ${about(half)}${most === half ? '' : `≤ ${about(most)}`}`,
    ],
    '.tiles .dt': ['Waiting to start', 'Running', 'Ended', 'Failed for good', 'Time to start, p50 and p95'],
    '.tiles .sub': [
      `${n(limited)} at limits, ${n(inPaused)} paused`,
      `in ${n(sum(facts.queues.map(({ lanes }) => lanes)))} of ${n(sum(facts.queues.map(({ maxLanes }) => maxLanes)))} lanes, ${n(pulled)} pulled`,
      `${n(ended)} in 4 h`,
      `${percent(failed / (failed + completed))} in 4 h`,
      `${n(sum(facts.classes.map(({ counts }) => counts.runs)) + count('running'))} runs since midnight UTC`,
    ],
    '.where h2': [`Status of ${n(count('suspended') + count('running') + count('queued'))} open jobs`],
    '.where .n': [count('suspended'), later, ready - inPaused, limited, inPaused, count('running')].map(n),
  }
}

const overview = (facts: Facts): Claims => ({
  ...tiles(facts),
  ...chart(facts),
  '.head .note': (found) => found,
  '#look': (found) => found,
  '.alerts .what': (found) => found.map((text) => alertOf(facts, text)),
  ...kinds(facts),
  'main a[href="/ui/queues"].link': [`All ${n(facts.queues.length)}`],
  '.cols.c21:not(.stretch) > .card:first-child tbody tr': queueRows(facts),
})

const messageOf = ({ error }: Job): string => (error === null ? '' : (JSON.parse(String(error)).message ?? ''))

function kindRow({ count, message, example, class: name }: ErrorKind, found = ''): string {
  const cells = found.split(' | ')
  const said = `${n(count)} in the last 6 h`
  return [
    cells[0]!.startsWith(example || message) ? cells[0] : example || message,
    name,
    n(count),
    `{${said}}${said}`,
    ...cells.slice(4),
  ].join(' | ')
}

function kinds(facts: Facts): Claims {
  const failed = (one: ErrorKind) =>
    having(facts, { status: 'failed', class: one.class }).filter(
      (job) => one.count === 0 || messageOf(job) === one.example || one.message === messageOf(job),
    ).length
  return {
    '.kinds .tag:not(.new)': [n(facts.errors.length)],
    '.kinds tbody tr': (found) => facts.errors.map((one, i) => kindRow({ ...one, count: failed(one) }, found[i])),
  }
}

const jobsFrame = (facts: Facts): Claims => ({
  '.counts b': [n(facts.jobs.length), ...order.map((status) => n(counted(facts, { status })))],
  '.views .n': (['failed', 'running', 'queued', 'suspended'] as const).map((status) => n(counted(facts, { status }))),
})

function jobRow(
  { id, status, class: name, group, labels, queue, priority, attempt, ranAt, endedAt, error }: Job,
  found = '',
): string {
  const cells = found.split(' | ')
  const tags = Object.entries(labels).map(([key, value]) => `${key}=${value}`)
  const tries = status === 'failed' ? Math.max(1, attempt) : attempt
  const long = group !== null && group.length > 24
  return [
    `{Select job ${id}}`,
    title(status),
    `#${id}`,
    long ? cells[3] : [name, ...(group ? [group] : []), ...tags].join(' '),
    error === null ? cells[4]?.replace(/\d/g, '?') : messageOf({ error } as Job),
    queue,
    String(priority),
    tries === 0 ? '–' : `{attempt ${tries}}`,
    ranAt !== null && endedAt !== null && endedAt >= ranAt ? span(endedAt - ranAt) : '–',
    '~',
  ].join(' | ')
}

const jobTable = (jobs: readonly Job[]): Claims => ({
  '#rows tr': (found) => jobs.slice(0, 50).map((job, i) => jobRow(job, found[i])),
  '#bulk .n': (found) => found.map((text) => text.replace(/^\d+/, '0')),
})

const spread = (took: { mean: number; p50: number; p95: number } | null): string =>
  took ? `{${about(took.mean)} on average}≤ ${about(took.p50)} / ${about(took.p95)}` : '–'

const hoursOf = (hours: readonly { at: number; runs: number }[] = []): string => {
  const said = hours
    .filter(({ runs }) => runs > 0)
    .toSorted((a, b) => new Date(a.at).getUTCHours() - new Date(b.at).getUTCHours())
    .map(({ at, runs }) => `${n(runs)} at ${new Date(at).getUTCHours()}:00`)
    .join(', ')
  return said ? `{Runs per hour, UTC: ${said}}${said}` : 'none'
}

const byClass = (facts: Facts): Claims => ({
  '.head .note': [many(facts.classes.length, 'class', 'classes')],
  ...jobsFrame(facts),
  '.list h2': (found) => found,
  '.list > header .tag': [n(facts.classes.length)],
  '.list caption': (found) => found,
  '.list tbody tr': facts.classes.map(({ queue, class: name, counts, waited, took, hours }) => {
    const of = (status: Job['status']) => counted(facts, { queue, class: name!, status })
    const [completed, failed] = [of('completed'), of('failed')]
    return [
      name,
      queue,
      n(counted(facts, { queue, class: name! })),
      n(counts.runs),
      n(completed),
      failed === 0 ? '0' : `${n(failed)} ${percent(failed / (failed + completed))}`,
      spread(waited),
      spread(took),
      hoursOf(hours),
    ].join(' | ')
  }),
})

const seen = (found: readonly string[]): readonly string[] => found

async function queuePage(facts: Facts, { site: { engine } }: Scene, name: string): Promise<Claims> {
  const queue = await engine.queues.get(name, { limit: 20 })
  const { ready } = waitingIn(facts, { queue: name })
  const own = facts.classes.filter((row) => row.queue === name).toSorted((a, b) => b.counts.runs - a.counts.runs)
  const pulling = facts.processes.flatMap((one) => (one.kind === 'pull' && one.queues.includes(name) ? [one] : []))
  const [next, under, serves, , classes] = [1, 2]
    .flatMap((column) => [1, 2, 3].map((at) => `.below > .stack:nth-child(${column}) > .card:nth-child(${at})`))
    .slice(1) as [string, string, string, string, string]
  const running = having(facts, { queue: name, status: 'running' })
  return {
    '.head .note': [`push, 0 of ${many(queue.maxLanes, 'lane')} open, ${many(running.length, 'pulled run')}`],
    '.tbl.lined tbody tr': queueRows(facts, false),
    ...chart(facts, name),
    [`${next} > header .tag`]: [n(ready)],
    [`${next} tbody tr`]: queue.next.map(({ job, class: of, group, pull, priority }, i) =>
      [i + 1, `#${job}`, [of, group, pull && 'pull'].filter(Boolean).join(' '), `priority ${priority}`, '~'].join(
        ' | ',
      ),
    ),
    [`${under} > header .tag`]: [n(running.length)],
    [`${under} tbody tr`]: queue.runs.slice(0, 6).map(({ class: of, job }) => row(`${of} #${job}`, '~', '')),
    [`${serves} > header .tag`]: [n(pulling.length)],
    [`${serves} tbody tr`]: pulling.map(({ id, runs }) => `${id} pull | ${many(runs.length, 'current run')} | ~`),
    '.form label .note': seen,
    '.form > p.note': [`0 ${queue.maxLanes} ${queue.batch} ${n(ready)}`],
    [`${classes} > header .tag`]: [n(own.length)],
    [`${classes} tbody tr`]: own.slice(0, 12).map(({ class: of, counts, took }) => {
      const failed = counted(facts, { queue: name, class: of!, status: 'failed' })
      return [
        of,
        many(counts.runs, 'run'),
        `${n(failed)} failed`,
        `{95 % of runs took at most this}${took ? about(took.p95) : '–'}`,
      ].join(' | ')
    }),
  }
}

function slotsOf({ concurrency, running, rate, started, fullSince }: LimitRow, found: string): string {
  const starts = rate ? `${n(started ?? 0)} ${n(rate.limit)} ${span(rate.period)}` : ''
  const full = fullSince ? (/\d[\d.]* m?s$|\d+ m \d+ s$/.exec(found)?.[0] ?? 'full') : ''
  return `${n(running)} ${concurrency === null ? '' : n(concurrency)} ${starts} ${full}`
}

async function limitsPage(facts: Facts, { site: { engine } }: Scene): Promise<Claims> {
  const waiting = (key: string) => counted(facts, { waitingAt: key })
  const full = facts.limits.filter(
    ({ key, concurrency, running }) => concurrency !== null && running >= concurrency && waiting(key) > 0,
  )
  const all = sum(facts.limits.map(({ key }) => waiting(key)))
  const { constraints } = await engine.constraints.list()
  const kindOf = ({ key, concurrency, rate }: Facts['limits'][number]) =>
    [
      ...(concurrency === null ? [] : [`max ${n(concurrency)} running`]),
      ...(rate === null ? [] : [`${n(rate.limit)} in ${span(rate.period)}`]),
      ...(key.startsWith('worker:') ? ['of the class'] : key.startsWith('constraint:') ? ['by a constraint'] : []),
    ].join(', ')
  const limits = facts.limits.toSorted(
    (a, b) =>
      Number(full.includes(b)) - Number(full.includes(a)) ||
      waiting(b.key) - waiting(a.key) ||
      b.running - a.running ||
      (a.key < b.key ? -1 : 1),
  )
  const use = (name: string, of: 'running' | 'waiting') =>
    sum(limits.filter(({ key }) => key.startsWith(`constraint:${name}:`)).map((one) => one[of]))
  return {
    '.head .note': [`${many(limits.length, 'limit')}, ${n(full.length)} full; ${many(all, 'job')} waiting`],
    '.limit > .line .grow .sub': limits.map(kindOf),
    '.limit > .line > div:nth-child(2) .sub': (found) => limits.map((limit, i) => slotsOf(limit, found[i] ?? '')),
    '.limit > .line > .q': limits.map(({ key }) =>
      waiting(key) > 0 ? many(waiting(key), 'waits', 'wait') : 'no jobs waiting',
    ),
    '.c21.below > .card:first-child tbody tr': (found) =>
      facts.groups.map(({ id, concurrency }, i) => {
        const cells = (found[i] ?? '').split(' | ')
        const [name, acts] = [cells[0]!, cells.at(-1)]
        const own = facts.jobs.filter(({ group }) => group === id)
        const held = having(facts, { group: id, status: 'running' }).length
        return row(
          id.length > 28 ? name : id,
          '',
          concurrency === null ? n(held) : `${n(held)} of ${n(concurrency)}`,
          many(own.filter(({ waitingAt }) => waitingAt === `group:${id}`).length, 'waits', 'wait'),
          many(own.filter(({ status }) => status === 'queued' || status === 'running').length, 'job'),
          acts,
        )
      }),
    '.c21.below > .card:last-child tbody tr': (found) =>
      constraints.map(({ name }, i) =>
        row(
          name,
          found[i]?.split(' | ')[1],
          `${n(use(name, 'running'))} running, ${n(use(name, 'waiting'))} waiting`,
          '',
        ),
      ),
  }
}

async function openedLimit(facts: Facts, scene: Scene, key: string): Promise<Claims> {
  const { holders, waiting } = await scene.site.engine.limits.usage(key, { holders: 60, waiting: 18 })
  const waits = having(facts, { waitingAt: key })
  const groups = [...new Set([...holders, ...waiting].map(({ group }) => group))]
  return {
    ...(await limitsPage(facts, scene)),
    '.turns .turn': [
      ...waiting.map(({ job }) => `#${job}`),
      ...(waits.length > waiting.length ? [`${n(waits.length - waiting.length)} more`] : []),
    ],
    '.open p.note': seen,
    '.share': (found) =>
      found.map((text) => {
        const group = groups.find((one) => text.startsWith(one ?? 'no group')) ?? null
        const runs = holders.filter((one) => one.group === group).length
        return `${group ?? 'no group'}${n(runs)} running, ${n(waits.filter((one) => one.group === group).length)} waiting`
      }),
    '.open tbody tr': holders.map(
      ({ job, class: name, process, group }) => `${name} #${job} | ${process ?? group ?? ''} | ~`,
    ),
  }
}

const workerRow = (facts: Facts, queue: string, name: string, found: string): string => {
  const row = facts.classes.find((one) => one.queue === queue && one.class === name)
  const failed = counted(facts, { queue, class: name, status: 'failed' })
  const p95 = row?.took
    ? `{95 % took at most this; ${about(row.took.mean)} on average, half of them at most ${about(row.took.p50)}}${about(row.took.p95)}`
    : '–'
  return [name, found.split(' | ')[1], short(row?.counts.runs ?? 0), short(failed), p95].join(' | ')
}

async function workersPage(facts: Facts, { site: { engine } }: Scene): Promise<Claims> {
  const { workers } = await engine.workers.list()
  const queues = new Set(workers.map(({ queue }) => queue)).size
  const heard = new Set(
    workers.filter(({ seen }) => seen !== null && seen > facts.now - MINUTE).map(({ queue }) => queue),
  ).size
  const note = `${many(workers.length, 'class', 'classes')} in ${many(queues, 'queue')}`
  return {
    '.head .note': [heard ? `${note}; pull workers claimed from ${many(heard, 'queue')} in the last minute` : note],
    '.card:has(.classes) > header .tag': [n(workers.length)],
    '.classes tr': (found) => {
      let queue = ''
      const shown = found.map((row) => {
        const [name, kind] = row.split(' | ') as [string, string]
        if (kind === 'Runs') queue = name
        return kind === 'Runs' ? row : workerRow(facts, queue, name, row)
      })
      const missing = workers.length + queues - shown.length
      return missing === 0 ? shown : [...shown, `${missing} rows are missing`]
    },
  }
}

async function workerPage(facts: Facts, scene: Scene, queue: string, name: string): Promise<Claims> {
  const row = facts.classes.find((one) => one.queue === queue && one.class === name)!
  const failed = counted(facts, { queue, class: name, status: 'failed' })
  const ends = ['10 ms', '30 ms', '100 ms', '300 ms', '1 s', '3 s', '10 s', '30 s', '1 min', '10 min', '1 h', 'longer']
  const newest = having(facts, { queue, class: name }).slice(0, 5)
  const isFound = facts.jobs.length < 20_000
  const { workers } = await scene.site.engine.workers.list()
  const { servedBy, history } = workers.find((one) => one.queue === queue && one.class === name)!
  return {
    ...(await workersPage(facts, scene)),
    '.wdesc dd:first-of-type': (found) =>
      found.map((text) =>
        servedBy.length
          ? `a function of ${many(servedBy.length, 'deployment')}:${text.split(':').slice(1).join(':')}`
          : text,
      ),
    '.wdesc dd:nth-of-type(2)': seen,
    '.wdesc dd:last-of-type': [history ? `default, with the last ${n(history)} runs` : 'default'],
    '.legend': [`${many(row.counts.runs, 'run')}{${n(failed)}}${short(failed)} failed`],
    '.wideplot > .vh': [
      row.took!.buckets.flatMap((runs, i) => (runs ? [`${many(runs, 'run')} up to ${ends[i]}`] : [])).join(', '),
    ],
    // A search for the jobs of a queue that wait for a limit reads the newest 20,000 jobs.
    '.got > .note': (found) => found.map(() => `20,000 ${n(facts.jobs[0]!.id)}`),
    '.lasts .id': (found) => (isFound || found.length > 0 ? newest.map(({ id }) => `#${id}`) : []),
    '.lasts .clip': (found) => (isFound || found.length > 0 ? newest.map((job) => messageOf(job)) : []),
  }
}

async function channelsPage(_: Facts, { site: { engine } }: Scene): Promise<Claims> {
  const { channels } = await engine.channels.list({ publishers: true, last: true })
  const heard = channels
    .filter(({ subscribers }) => subscribers.length > 0)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const kept = channels.filter(({ last }) => last !== undefined)
  const first = (subscribers: (typeof channels)[number]['subscribers']) =>
    [
      ...subscribers.slice(0, 6).map(({ job, port }) => `#${job} ${port}`),
      ...(subscribers.length > 6 ? [`${n(subscribers.length - 6)} more`] : []),
    ].join(' ')
  return {
    '.head .note': [many(heard.length, 'channel has listeners', 'channels have listeners')],
    '.stack > .card:first-child tbody tr': [
      row(
        '/shop',
        n(sum(heard.map(({ subscribers }) => subscribers.length))),
        `in ${many(heard.length, 'channel')}`,
        '',
      ),
      ...heard.map(({ name, subscribers }) =>
        row(name.replace('/shop/', ''), n(subscribers.length), first(subscribers), ''),
      ),
    ],
    '.stack > .card:nth-child(2) .tag': [n(kept.length)],
    '.stack > .card:nth-child(2) tbody tr': (found) =>
      kept.map(
        ({ name, rate = 0, minutes = [] }, i) =>
          `${name} | ~ | {${n(sum(minutes))} in ten minutes}${n(rate)} | ${found[i]?.split(' | ')[3]}`,
      ),
  }
}

async function callbacksPage(facts: Facts, { site: { engine } }: Scene): Promise<Claims> {
  const { callbacks } = await engine.callbacks.list({ limit: 50 })
  const { PENDING, IN_PROGRESS, DELIVERED, FAILED } = facts.callbacks
  const said = { PENDING: 'Pending', IN_PROGRESS: 'In progress', DELIVERED: 'Delivered', FAILED: 'Failed' }
  return {
    '.head .note': [many(PENDING + IN_PROGRESS + DELIVERED + FAILED, 'callback')],
    '.seg a': [
      'All',
      `Pending ${n(PENDING)}`,
      `In progress ${n(IN_PROGRESS)}`,
      `Delivered ${n(DELIVERED)}`,
      `Failed ${n(FAILED)}`,
    ],
    'main tbody tr': callbacks.map(({ of, state, url, lastError, attempts }) =>
      row(
        said[state],
        `#${of}`,
        url,
        lastError ?? '',
        `{Attempts of the callback of job ${of}}${n(attempts)}`,
        '~',
        state === 'FAILED' || state === 'DELIVERED' ? 'none' : '~',
        state === 'FAILED' ? `{Resend the callback of job ${of}}Resend` : '',
      ),
    ),
  }
}

type Entry = Facts['log']['entries'][number]

/** Slices of the log with entries, the newest first. */
export function slicesOf(entries: readonly Entry[]): { from: number; to: number; of: Entry[] }[] {
  const [first, last] = [entries.at(-1)?.at ?? 0, entries[0]?.at ?? 0]
  const width = Math.ceil((last + 1 - first) / SLICES)
  const within = (from: number) => entries.filter(({ at }) => at >= from && at < from + width)
  return Array.from({ length: SLICES }, (_, i) => first + (SLICES - 1 - i) * width)
    .map((from) => ({ from, to: from + width - 1, of: within(from) }))
    .filter(({ of }) => of.length > 0)
}

async function logPage(_: Facts, { site: { engine } }: Scene, level?: string): Promise<Claims> {
  const { entries, cursor } = await engine.log.read({ limit: LOG, level })
  const said = (of: readonly Entry[], from: number, to: number) =>
    `${of.length} from ${clock(from, 'UTC')} to ${clock(to, 'UTC')}; ${of.filter((one) => one.level === 'error').length}`
  const all = said(entries, entries.at(-1)!.at, entries[0]!.at)
  const slices = slicesOf(entries).map(({ of, from, to }) => said(of, from, to))
  return {
    '.head .note': [cursor === null ? many(entries.length, 'entry', 'entries') : `${n(entries.length)} so far`],
    '.plot@aria-label': [all],
    '.plot .note': [all],
    '.plot a@aria-label': slices,
    '.plot a title': slices,
    '.sifts input@title': seen,
    '.sifts input@aria-label': seen,
    'ol.log > li > a@aria-label': seen,
    'ol.log > li@id': entries.map(({ id }) => `e${id}`),
    'ol.log > li .clip': (found) => found,
  }
}

async function deploysPage(facts: Facts, { site: { engine } }: Scene): Promise<Claims> {
  const { deployments } = await engine.deployments.list()
  const { classes, errors } = await engine.deployments.compare()
  const share = (of: (typeof classes)[number]['before']) =>
    of?.counts.runs ? percent(of.counts.errors / of.counts.runs) : '–'
  const took = (of: (typeof classes)[number]['before']) =>
    of?.took ? `≤ ${about(of.took.p50)} / ${about(of.took.p95)}` : '–'
  return {
    '.stack > .card:first-child > header .tag': [n(errors.length)],
    '.stack > .card:first-child tbody tr': errors.map(
      ({ message, example, class: name }) =>
        `${message || example} | ${name} | ${many(having(facts, { class: name, status: 'failed' }).length, 'job')} | ~`,
    ),
    '.stack > .card:nth-child(2) > header .tag': [n(classes.length)],
    '.stack > .card:nth-child(2) > header .right': seen,
    '.stack > .card:nth-child(2) tbody tr': classes.map(({ queue, class: name, before, after }) =>
      [
        name,
        queue,
        `${n(before?.counts.runs ?? 0)} → ${n(after?.counts.runs ?? 0)}`,
        `${share(before)} → ${share(after)}`,
        `${took(before)} → ${took(after)}`,
      ].join(' | '),
    ),
    '.stack > .card:nth-child(3) > header .tag': [n(sum(deployments.map(({ deploys }) => deploys.length)))],
  }
}

async function keysPage(_: Facts, { site: { engine } }: Scene): Promise<Claims> {
  const [{ keys }, { entries }] = await Promise.all([engine.keys.list(), engine.audit.read({ limit: 50 })])
  return {
    '.head .note': [many(keys.length, 'API key')],
    '.keyid': keys.map(({ id }) => id),
    'main > .card > header .right': ['newest 50'],
    'main > .card tbody tr': (found) =>
      found.length === entries.length ? found : [`expected ${entries.length}, got ${found.length}`],
  }
}

async function findPage(facts: Facts, { site: { engine } }: Scene, text: string): Promise<Claims> {
  const { jobs, cursor, newest } = await engine.jobs.rows({ text, limit: 5, lookAt: 250 })
  const kinds = facts.errors.filter((one) => [one.message, one.example, one.class].some((part) => part?.includes(text)))
  const looked = newest! - Number(cursor) + 1
  return {
    '.head .note': [`${kinds.length + jobs.length} for “${text}”`],
    '.found .right': [
      ...kinds.map((one) =>
        many(
          having(facts, { class: one.class, status: 'failed' }).filter((job) => messageOf(job) === one.message).length,
          'failed job',
        ),
      ),
      ...jobs.map(({ status, message }) => `${status} job, ${message}`),
      'ended jobs',
      cursor === null ? 'searched all jobs' : `searched the newest ${n(looked)} of ${n(newest!)}`,
    ],
  }
}

async function groupPage(facts: Facts, { site: { engine } }: Scene, id: string): Promise<Claims> {
  const { limit, holders } = await engine.limits.usage(`group:${id}`, { holders: 60, waiting: 40 })
  const [runs, waits] = [counted(facts, { group: id, status: 'running' }), counted(facts, { waitingAt: `group:${id}` })]
  const jobs = having(facts, { group: id }).slice(0, 30)
  return {
    '.head .note': [`${many(runs, 'job is', 'jobs are')} running, ${n(waits)} waiting for a slot`],
    '.stack > .card:first-child > header .right': [`at most ${n(limit.concurrency!)} at once`],
    '.body .sub': (found) => [slotsOf(limit as LimitRow, found[0]!)],
    '.open tbody tr': holders.map(({ job, class: name, process }) => row(`${name} #${job}`, process ?? id, '~')),
    '.stack > .card:last-child tbody@data-found': seen,
    '.stack > .card:last-child tbody tr': (found) =>
      jobs.map(({ id, status, class: name }, i) => row(title(status), `#${id}`, name, found[i]?.split(' | ')[3], '~')),
  }
}

async function schedulesPage(facts: Facts, { site: { engine } }: Scene): Promise<Claims> {
  const { schedules } = await engine.schedules.list({ limit: 100 })
  const of = (name: 'paused' | 'failing') => schedules.filter((one) => one[name]).length
  const isShown = ({ paused, nextAt }: (typeof schedules)[number]) =>
    !paused && nextAt !== null && nextAt - facts.now < 12 * HOUR
  return {
    '.head .note': [
      `${many(schedules.length, 'schedule')}; ${n(of('paused'))} paused, ${n(of('failing'))} failed last time`,
    ],
    '.trk:not(.hd) svg[aria-label]@aria-label': schedules.map((one) => many(Number(isShown(one)), 'mark')),
    '.trk.hd text': seen,
    '.sch .sub': seen,
    '.nxt .sub': seen,
  }
}

async function filesPage(_: Facts, { call, kept }: Scene): Promise<Claims> {
  const { files, total } = (await call('GET', '/v1/files?total=true')) as unknown as {
    files: { id: string; size: number; job: number; type: string }[]
    total: { files: number; bytes: number }
  }
  return {
    '.head .note': [`${many(total.files, 'file')}, ${n(total.bytes)} bytes`],
    'main tbody tr': (found) =>
      files.map(({ id, size, job, type }, i) =>
        row(
          id,
          type,
          `${n(size)} bytes`,
          `#${job}`,
          'stored ~',
          id === kept ? 'kept until you remove it' : 'removed ~',
          lastOf(found[i]),
        ),
      ),
  }
}

async function historyPage(_: Facts, { site: { engine } }: Scene): Promise<Claims> {
  const { jobs, cursor } = await engine.history.list({ limit: 50 })
  return {
    '.head .note': [cursor === null ? many(jobs.length, 'job') : `${n(jobs.length)} so far`],
    '#rows tr': jobs.map(({ id, status, class: name, group, labels, error, queue, attempts, took }) =>
      row(
        [title(status), name, `#${id}`, group ?? '', ...Object.entries(labels).map((pair) => pair.join('='))].join(' '),
        error === null ? '' : JSON.parse(String(error)).message,
        queue,
        n(attempts),
        took === null ? '–' : span(took),
        '~',
      ),
    ),
  }
}

async function pastJobPage(_: Facts, { site: { engine } }: Scene): Promise<Claims> {
  const { ends } = await engine.history.get(String(FIRST))
  const [{ queue, class: name, labels, waited, took, attempts, error, args }] = ends as [(typeof ends)[number]]
  return {
    'main h1': [`${name} #${FIRST}`],
    '.kv dd': (found) => [
      queue,
      name,
      Object.entries(labels)
        .map((pair) => pair.join('='))
        .join(' '),
      ...found.slice(3, 5),
      span(waited!),
      span(took!),
      n(attempts),
    ],
    '.fault b': [JSON.parse(String(error)).message],
    '.fault pre': seen,
    '.card > section:not(.fault) pre': (found) =>
      JSON.stringify(JSON.parse(found[0]!)) === String(args) ? found : [String(args)],
  }
}

async function jobPage(facts: Facts, { site: { engine } }: Scene, id: number, tab?: string): Promise<Claims> {
  const [job, { runs }, children, { entries, cursor }] = await Promise.all([
    engine.jobs.get(String(id)),
    engine.jobs.runs(String(id), { details: true }),
    engine.jobs.children(String(id), 20),
    engine.log.read({ job: String(id), limit: 50 }),
  ])
  const failed = runs.filter(({ outcome }) => outcome === 'failed').length
  const ports = (['in', 'out'] as const).flatMap((dir) =>
    Object.entries(job[dir]).map(([name, port]) => ({ dir, name, ...port })),
  )
  const waiting = sum(ports.map(({ size }) => size))
  const family = 1 + Object.keys(job.children).length
  const { cost, retry } = job
  const facings = [n(runs.length), failed === 0 ? '' : `, ${failed === 1 ? 'one' : n(failed)} failed`].join('')
  const limits = children
    .filter(({ waitingAt }) => waitingAt !== null)
    .map(({ waitingAt }) => facts.limits.find(({ key }) => key === waitingAt)!)
  return {
    'main h1': [`${job.class} #${id} ${title(job.status)}`],
    '.jobhead .facts > span': (found) =>
      found.map((text) =>
        text.startsWith('priority') ? `priority ${job.priority}` : text.startsWith('runs') ? `runs ${facings}` : text,
      ),
    '#neighbours': seen,
    '.why p:not(.sub)': (found) =>
      found.map((text) => {
        const limit = limits.find(({ key }) => text.includes(key))
        if (limit) return `${n(limit.running)} ${n(limit.concurrency!)}`
        return text.includes('child') ? n(children.length) : text
      }),
    '.why .sub': (found) =>
      found.map((text) => {
        if (/^\d+ job/.test(text)) return n(counted(facts, { waitingAt: limits[0]!.key }))
        return text.includes('attempt') ? n(failed) : text
      }),
    '.why .step': (found) =>
      [
        found[0]!,
        ...children
          .map(({ id, class: name }) => `${name} #${id}`)
          .toSorted()
          .toReversed(),
      ].slice(0, found.length),
    '.wf': seen,
    '.wf + .note': seen,
    '.pair dd': seen,
    ...(ports.length > 0 && {
      '#ports > header .right': [`${many(waiting, 'value')} wait`],
      '#ports tbody tr': (found: readonly string[]) =>
        ports.map(({ dir, name, size, taken }, i) => {
          const cells = found[i]!.split(' | ')
          const more = size > 5 ? `${n(size - 5)} more` : ''
          return row(
            dir,
            name,
            n(size),
            n(taken),
            more ? `${cells[4]!.replace(/[\d,]+ more$/, '')}${more}` : cells[4],
            ...cells.slice(5),
          )
        }),
    }),
    '#tabs .tabs a': (found) =>
      found.map((text) => {
        const name = text.split(' ')[0]!
        const shown: Record<string, string> = {
          Log: `${n(entries.length)}${cursor === null ? '' : '+'}`,
          Runs: n(runs.length),
          Errors: n(failed),
        }
        return row(name, '').replace(' |', '') + (name in shown ? ` ${shown[name]}` : '')
      }),
    ...(tab === 'runs'
      ? {
          '#tabs tbody tr': (found: readonly string[]) =>
            runs.map(({ startedAt, endedAt, readyAt, attempt }, i) =>
              runRow(found[i]!, { startedAt, endedAt, readyAt, attempt }),
            ),
        }
      : { '#tabs .log > li@id': entries.map((entry) => `e${entry.id}`), '#tabs .log > li > a@aria-label': seen }),
    '.failure li > a@aria-label': seen,
    '.rail > .card:first-child > header .right': [n(family)],
    '.rail .tree .me': [`${title(job.status)}${job.class}#${id}`],
    '.rail .kv dd': (found) =>
      found.map((text) =>
        /^\d+( of \d+)?(, .*)?$/.test(text) && !text.includes('run')
          ? `${n(job.attempt)}${retry?.max === undefined ? '' : ` of ${retry.max + 1}`}${text.includes(',') ? text.slice(text.indexOf(',')) : ''}`
          : cost && text.includes(' run')
            ? [
                many(cost.runs, 'run'),
                span(cost.took),
                ...(cost.commits === null ? [] : [many(cost.commits, 'commit')]),
              ].join(', ')
            : text,
      ),
  }
}

type Run = { startedAt: number; endedAt: number; readyAt?: number | null; attempt: number }
const runRow = (found: string, { startedAt, endedAt, readyAt, attempt }: Run): string =>
  row(...found.split(' | ').slice(0, 5), n(attempt), span(startedAt - readyAt!), span(endedAt - startedAt))

const numberIn = (text = ''): number => Number.parseFloat(text.replace(/^\D*/, '').replaceAll(',', ''))

/** The rate of a wire falls while the page is read. */
const isNear = (shown: number, rate: number): boolean => Math.abs(shown - rate) <= 2 + rate / 10

async function flowPage(_: Facts, { site: { engine }, flow }: Scene, chosen?: 'wire' | 'node'): Promise<Claims> {
  const { flow: row, nodes, wires, undo } = await engine.flows.get(String(flow))
  const waits = (wire: (typeof wires)[number]) => wire.size + wire.behind
  const values = sum(wires.map(waits))
  const nameOf = ({ node, port }: (typeof wires)[number]['from']) => (node ? `${node}.${port}` : port)
  const lines = (found: readonly string[]) =>
    found.map((text) => {
      const wire = wires.find(({ from, to }) => text.startsWith(`${nameOf(from)} to ${nameOf(to)}:`))
      if (!wire) return text
      const said = text.slice(text.indexOf(':') + 1)
      const isRight = waits(wire) === 0 || numberIn(said) === waits(wire)
      const rate = numberIn(/([\d,]+) (?:a|per) minute/.exec(said)?.[1])
      return isRight && isNear(rate, wire.rate) ? text : `${waits(wire)} ${wire.rate}`
    })
  const badges = wires.map((wire) => wire.rate || waits(wire)).filter(Boolean)
  const isBadge = (text: string) =>
    text === '' || text.includes('·') || badges.some((rate) => isNear(numberIn(text), rate))
  const full = wires.find(({ id }) => id === 'enrich.image>images.url')!
  const [came, went] = [sum(full.in), sum(full.out)]
  return {
    '#flowbar > .dim': [
      `${n(row.active)} of ${n(nodes.length)} nodes busy; ${n(values)} values on ${n(wires.length)} wires`,
    ],
    '#flowbar form .dimmer': [n(undo)],
    '[data-board]@aria-label': [`Graph of the flow: ${nodes.length} nodes, ${wires.length} wires`],
    '[data-board] [aria-label]:not(.node)@aria-label': lines,
    '[data-board] .node@aria-label': seen,
    '.fact': seen,
    '[data-board] .badge': (found) => found.map((text) => (isBadge(text) ? text : `one of ${badges}`)),
    '.listed a': lines,
    '.replaybox': seen,
    ...(chosen === 'wire' && {
      '.insp svg[role=img]@aria-label': [`In the last ten minutes, ${many(came, 'value')} arrived and ${n(went)} left`],
      '.insp .stats': (found: readonly string[]) => [`${n(waits(full))} ${/[+-]?[\d,]+(?=\D*$)/.exec(found[0]!)?.[0]}`],
      '.insp h3': ['Last 10 minutes', 'Values, oldest first', 'Far end: images'],
      '.insp .legend': [`came ${n(came)}went ${n(went)}`],
      '.insp .vlist': seen,
      '.insp .vlist + .note': [`${n(full.size - 5)} more`],
      '.insp > section > p:not(.note)': seen,
    }),
    ...(chosen === 'node' && {
      '.insp > section p': seen,
      '.insp .diff .num': wires
        .filter(({ from, to }) => from.node === 'enrich' || to.node === 'enrich')
        .map((wire) => (waits(wire) > 0 ? `${n(waits(wire))} waiting` : `${n(wire.rate)}/min`)),
    }),
  }
}

const doctorPage = (facts: Facts, isExamined = false): Claims => ({
  'main .card > header .right': seen,
  '.checks .right': seen,
  ...(isExamined && {
    '#examined h2': seen,
    '#slices .word': (found: readonly string[]) =>
      found.map((text) => (/\d/.test(text) ? `${text.split(' ')[0]} ${n(facts.jobs.length)}` : text)),
  }),
})

async function flowsPage(_: Facts, { site: { engine }, flow }: Scene): Promise<Claims> {
  const { nodes, wires } = await engine.flows.get(String(flow))
  const busy = nodes.filter(({ status }) => status === 'queued' || status === 'running' || status === 'suspended')
  void busy
  const { flows } = await engine.flows.list({ limit: 20 })
  const values = sum(wires.map(({ size, behind }) => size + behind))
  return {
    '.head .note': [`${many(flows.length, 'flow')} on this page`],
    'main tbody tr': flows.map(
      ({ name, status, active }) =>
        `${title(status)} ${name} #${flow} | ${n(active)} of ${n(nodes.length)} | ${n(values)} | ~ | ~`,
    ),
  }
}

function fitting(facts: Facts): string {
  const open = facts.jobs.filter(({ status }) => ['queued', 'running', 'suspended'].includes(status))
  const fits = open.slice(0, 500).filter(({ class: name }) => name === 'crawl').length
  return `${n(fits)} of the ${open.length > 500 ? 'newest 500' : n(open.length)} open jobs ${fits === 1 ? 'matches' : 'match'}`
}

async function hearing({ site: { engine } }: Scene, channel: string): Promise<string[]> {
  const { channels } = await engine.channels.list({})
  const ports = channels.filter(({ name }) => name === channel).flatMap(({ subscribers }) => subscribers)
  const first = ports.slice(0, 6).map(({ job, port }) => `#${job} ${port}`)
  return [`${many(ports.length, 'port')} would receive it: ${first.join(', ')} and ${n(ports.length - 6)} more.`]
}

export const pages: Record<string, (facts: Facts, scene: Scene) => Claims | Promise<Claims>> = {
  '/': overview,
  '/jobs': (facts) => ({
    '.head .note': [many(facts.jobs.length, 'job')],
    ...jobsFrame(facts),
    ...jobTable(facts.jobs),
  }),
  '/jobs?status=failed': (facts) => ({
    '.head .note': [many(counted(facts, { status: 'failed' }), 'failed job')],
    ...jobsFrame(facts),
    ...kinds(facts),
    ...jobTable(having(facts, { status: 'failed' })),
  }),
  '/jobs?by=class': byClass,
  '/queues': (facts) => ({
    '.head .note': [
      `${many(facts.queues.length, 'queue')}, ${n(facts.queues.filter(({ paused }) => paused).length)} paused`,
    ],
    'main tbody tr': (found) => {
      const shown = queueRows(facts)(found)
      const names = shown.map((row) => row.split(' ')[0]!)
      const missing = facts.queues.filter(({ name }) => !names.includes(name)).map(({ name }) => `missing ${name}`)
      return [...shown, ...missing]
    },
  }),
  '/queues/many': (facts, scene) => queuePage(facts, scene, 'many'),
  '/queues/store': (facts, scene) => queuePage(facts, scene, 'store'),
  '/queues/default': (facts, scene) => queuePage(facts, scene, 'default'),
  '/queues/mail': (facts, scene) => queuePage(facts, scene, 'mail'),
  '/limits': limitsPage,
  '/limits?open=worker:store/parcel': (facts, scene) => openedLimit(facts, scene, 'worker:store/parcel'),
  '/workers': workersPage,
  '/workers/default/charge': (facts, scene) => workerPage(facts, scene, 'default', 'charge'),
  '/workers/store/order': (facts, scene) => workerPage(facts, scene, 'store', 'order'),
  '/channels': channelsPage,
  '/callbacks': callbacksPage,
  '/log': (facts, scene) => logPage(facts, scene),
  '/log?level=error': (facts, scene) => logPage(facts, scene, 'error'),
  '/deploys': deploysPage,
  '/settings/keys': keysPage,
  '/flows': flowsPage,
  '/jobs?in=history': historyPage,
  '/jobs/past/history': pastJobPage,
  '/jobs/order': (facts, scene) => jobPage(facts, scene, scene.order),
  '/jobs/order?tab=runs': (facts, scene) => jobPage(facts, scene, scene.order, 'runs'),
  '/jobs/failed': (facts, scene) => jobPage(facts, scene, scene.failed),
  '/jobs/new': () => ({}),
  '/jobs/new?from=order': () => ({ 'main h1': seen }),
  '/flows/flow': (facts, scene) => flowPage(facts, scene),
  '/flows/flow?wire=enrich.image%3Eimages.url': (facts, scene) => flowPage(facts, scene, 'wire'),
  '/flows/flow?node=enrich': (facts, scene) => flowPage(facts, scene, 'node'),
  '/flows/flow/edit': () => ({ '.fact': seen, '.node@aria-label': seen, '#lines': seen }),
  '/schedules': schedulesPage,
  '/limits?constraint=hosts': async (facts, scene) => ({
    ...(await limitsPage(facts, scene)),
    '#preview': [fitting(facts)],
  }),
  '/limits?group=north': async (facts, scene) => ({
    ...(await limitsPage(facts, scene)),
    '.form > .note': [
      `${counted(facts, { group: 'north', status: 'running' })} running. No jobs are waiting, so a different limit changes nothing now.`,
    ],
  }),
  '/groups/north': (facts, scene) => groupPage(facts, scene, 'north'),
  '/channels?at=/shop/notes': async (facts, scene) => ({
    ...(await channelsPage(facts, scene)),
    '#preview': await hearing(scene, '/shop/notes'),
  }),
  '/files': filesPage,
  '/doctor': (facts) => doctorPage(facts),
  '/doctor?cursor=&run': (facts) => doctorPage(facts, true),
  '/find?q=card&list': (facts, scene) => findPage(facts, scene, 'card'),
  '/more': () => ({}),
}

export const claimsOf = async (path: string, facts: Facts, scene: Scene): Promise<Claims> => ({
  ...frame(facts),
  ...(await pages[path]!(facts, scene)),
})

/** Replaces the names of the scene's jobs with their ids. */
export const pathOf = (path: string, { order, failed, flow }: Scene): string =>
  path
    .replace('/jobs/past/history', `/jobs/${FIRST}/history`)
    .replace('/jobs/failed', `/jobs/${failed}`)
    .replace('from=order', `from=${order}`)
    .replace('/jobs/order', `/jobs/${order}`)
    .replace('/flows/flow', `/flows/${flow}`)

/** Queues, classes, groups and limits. */
export const namesIn = ({ queues, limits, jobs }: Facts): Set<string> =>
  new Set([
    ...queues.map(({ name }) => name),
    ...limits.map(({ key }) => key),
    ...jobs.flatMap(({ class: name, group }) => [name, ...(group === null ? [] : [group])]),
  ])

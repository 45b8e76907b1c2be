import { isCallbackQueue } from '../../../src/core/callback.ts'
import type { WorkerView } from '../../../src/engine/engine.ts'
import { counted, type Facts, having, waitingIn } from './facts.ts'
import { happenedTo } from './jobs.ts'
import { kinds } from './overview.ts'
import type { Scene } from './scene.ts'
import type { Claims } from './survey.ts'
import { MINUTE, n, percent, row, short, since, time, took } from './words.ts'

const hoursOf = (hours: Facts['classes'][number]['hours'] = []): string => {
  const said = hours
    .filter(({ runs }) => runs > 0)
    .toSorted((a, b) => new Date(a.at).getUTCHours() - new Date(b.at).getUTCHours())
    .map(({ at, runs }) => `${n(runs)} at ${new Date(at).getUTCHours()}:00`)
    .join(', ')
  return said ? `{Runs per hour, UTC: ${said}}${said}` : 'none'
}

function workerRow(facts: Facts, { queue, class: name }: WorkerView): string {
  const own = facts.classes.find((one) => one.queue === queue && one.class === name)
  const failed = counted(facts, { queue, class: name, status: 'failed' })
  const spread = own?.took
  const title = spread ? `{95%; mean ${took(spread.mean)}, median ${took(spread.p50)}}${took(spread.p95)}` : '–'
  return row(name, '', own ? hoursOf(own.hours) : '', short(own?.counts.runs ?? 0), short(failed), title)
}

const isLibrary = (queue: string): boolean => queue === 'core' || isCallbackQueue(queue)

const todayOf = ({ classes }: Facts, of: WorkerView) =>
  classes.find((one) => one.queue === of.queue && one.class === of.class)?.counts ?? { runs: 0, failed: 0 }

function inPlace(facts: Facts, workers: readonly WorkerView[]): WorkerView[] {
  const isPaused = ({ queue }: WorkerView) => facts.queues.some(({ name, paused }) => name === queue && paused)
  const ranks: ((worker: WorkerView) => number)[] = [
    (worker) => todayOf(facts, worker).failed,
    (worker) => todayOf(facts, worker).runs,
    (worker) => Number(isPaused(worker)),
  ]
  const sorted = workers
    .toSorted((a, b) => (`${a.queue}\n${a.class}` < `${b.queue}\n${b.class}` ? -1 : 1))
    .toSorted((a, b) => ranks.map((rank) => rank(b) - rank(a)).find((difference) => difference !== 0) ?? 0)
  return [...Map.groupBy(sorted, ({ queue }) => queue).values()].flat()
}

const pullWorkers = ({ processes }: Facts, queue: string) =>
  processes.flatMap((one) => (one.kind === 'pull' && one.queues.includes(queue) ? [one] : []))

const MAX_NAMED_PULL_WORKERS = 5

function queueRow(facts: Facts, queue: string, classes: readonly WorkerView[]): string {
  const held = (runs: readonly { queue: string }[]) => n(runs.filter((run) => run.queue === queue).length)
  const own = pullWorkers(facts, queue)
  const unnamed = facts.others.filter((run) => run.by === 'pull' && run.queue === queue)
  const { pull } = waitingIn(facts, { queue })
  return [
    queue,
    ...own
      .slice(0, MAX_NAMED_PULL_WORKERS)
      .map(({ id, runs, seenAt }) => `${id} ${held(runs)} jobs, seen ${time(seenAt)}`),
    ...(own.length > MAX_NAMED_PULL_WORKERS ? [`${n(own.length - MAX_NAMED_PULL_WORKERS)} more`] : []),
    ...(unnamed.length > 0 ? [`${held(unnamed)} jobs of unnamed pull workers`] : []),
    ...(pull > 0 && classes.some((one) => one.pull)
      ? [`${n(pull)} wait for a pull worker ${own.length === 0 ? 'Create a pull worker' : ''}`]
      : []),
  ].join(' ')
}

async function sortedIn(facts: Facts, { site: { engine } }: Scene) {
  const { workers } = await engine.workers.list()
  return Object.groupBy(inPlace(facts, workers), ({ queue }) => (isLibrary(queue) ? 'library' : 'own'))
}

export async function choosePage(facts: Facts, scene: Scene): Promise<Claims> {
  const { own = [], library = [] } = await sortedIn(facts, scene)
  const today = (worker: WorkerView) => {
    const { runs, failed } = todayOf(facts, worker)
    return [...(runs > 0 ? [`${n(runs)} runs today`] : []), ...(failed > 0 ? [`${n(failed)} failed jobs`] : [])]
  }
  const namesIn = ({ in: ports = {}, args }: WorkerView) =>
    [...Object.keys(ports), ...Object.keys(JSON.parse(args ?? '{}').properties ?? {})].join(', ')
  return {
    '.card > header .tag': [n(own.length + library.length)],
    summary: [`Standard library: ${n(library.length)} classes`],
    '.choose li': [...own, ...library].map((worker) =>
      [worker.class, worker.description ?? '', namesIn(worker), ...today(worker)].join(' '),
    ),
  }
}

async function classesIn(facts: Facts, scene: Scene): Promise<Claims> {
  const { own = [], library = [] } = await sortedIn(facts, scene)
  const rowsOf = (own: WorkerView[]) => [
    row('Queue and class', 'Kind', 'Runs per hour', 'Ended runs', 'Failed jobs', 'p95'),
    ...[...Map.groupBy(own, ({ queue }) => queue)].flatMap(([queue, own]) => [
      queueRow(facts, queue, own),
      ...own.map((worker) => workerRow(facts, worker)),
    ]),
  ]
  return {
    '.card:has(.classes) > header .tag': [n(own.length + library.length)],
    'summary.body': [`Standard library: ${n(library.length)} classes`],
    '.classes tr': [...rowsOf(own), ...rowsOf(library)],
  }
}

export async function workersPage(facts: Facts, scene: Scene): Promise<Claims> {
  const { workers } = await scene.site.engine.workers.list()
  const queues = new Set(workers.map(({ queue }) => queue)).size
  const isRunning = (of: WorkerView): boolean =>
    counted(facts, { queue: of.queue, class: of.class, status: 'running' }) > 0
  const states = [
    workers.filter(({ queue, class: name }) => counted(facts, { queue, class: name, status: 'failed' }) > 0),
    workers.filter(
      (worker) => worker.pull && worker.seen === null && todayOf(facts, worker).runs === 0 && !isRunning(worker),
    ),
    workers.filter(({ queue }) => facts.queues.some(({ name, paused }) => name === queue && paused)),
  ]
  return {
    '.head .note': [`${n(workers.length)} classes in ${n(queues)} queues`],
    '.seg a': ['All', ...states.map(({ length }) => n(length))],
    ...(await classesIn(facts, scene)),
  }
}

const MAX_NEWEST_JOBS = 8

function began({ errors, deploys }: Facts, name: string): string[] {
  const own = errors.filter((kind) => kind.class === name && !kind.muted)
  if (own.length === 0) return []
  const at = Math.min(...own.map(({ firstAt }) => firstAt))
  const deploy = deploys.filter((one) => one.at <= at).sort((a, b) => b.at - a.at)[0]
  if (!deploy) return [time(at)]
  return [
    `${time(at)}, ${at - deploy.at < MINUTE ? 'with' : `${took(at - deploy.at)} after`} the deploy of ${deploy.version}`,
  ]
}

export async function workerPage(facts: Facts, scene: Scene, queue: string, name: string): Promise<Claims> {
  const row = facts.classes.find((one) => one.queue === queue && one.class === name)!
  const failed = counted(facts, { queue, class: name, status: 'failed' })
  const completed = counted(facts, { queue, class: name, status: 'completed' })
  const newest = having(facts, { queue, class: name }).slice(0, MAX_NEWEST_JOBS)
  const happened = await Promise.all(newest.map((job) => happenedTo(job, facts, scene)))
  const isLike = (i: number) =>
    i > 0 && newest[i]!.status === 'queued' && happened[i] === happened[i - 1] && !happened[i]!.includes('@')
  const likeIt = (i: number): number => (i + 1 < newest.length && isLike(i + 1) ? 1 + likeIt(i + 1) : 0)
  const { workers } = await scene.site.engine.workers.list()
  const worker = workers.find((one) => one.queue === queue && one.class === name)!
  const { servedBy, history, seen, concurrency, retry, pull } = worker
  const held = pullWorkers(facts, queue).map(
    ({ id, runs }) => `${id}: ${n(runs.filter((run) => run.class === name).length)} jobs`,
  )
  const served = servedBy.map(({ id, version, at }) => `${id}, version ${version}, changed ${time(at)}`).join(', ')
  // The page searches only the newest 20,000 jobs.
  const isFound = (found: readonly string[]) => facts.jobs.length < 20_000 || found.length > 0
  const ofClass = { ...facts, errors: facts.errors.filter((kind) => kind.class === name) }
  return {
    ...(ofClass.errors.length > 0 ? kinds(ofClass) : {}),
    '.head .note': [`class of queue ${queue}`],
    '.wdesc dd': [
      servedBy.length > 0
        ? `${n(servedBy.length)} deployments: ${served}`
        : seen === null
          ? ''
          : [time(seen), ...held].join(' '),
      ...(concurrency === undefined ? [] : [n(concurrency)]),
      retry?.max === undefined ? 'default 3' : n(retry.max),
      ...(pull ? ['60 s'] : []),
      `default 1d, failed 30d${history ? `, with the last ${n(history)} runs` : ''}`,
    ],
    '.cols > :first-child > .card:first-child > header .right': [`${n(row.counts.runs)} runs, ${n(failed)} failed`],
    '.stack .shares svg@aria-label':
      completed + failed > 0 ? [`${n(completed)} jobs completed, ${n(failed)} failed`] : [],
    '.grow > .failed': began(facts, name),
    '.grow > .dim': [`Half of the runs took at most ${took(row.took!.p50)}, 95% at most ${took(row.took!.p95)}`],
    '.body.row > span': [hoursOf(row.hours)],
    '.cols .card > .note.foot': (found) => found.map(() => `20,000 ${n(facts.jobs[0]!.id)}`),
    '.lasts li': (found) =>
      isFound(found)
        ? newest.flatMap((job, i) => {
            if (isLike(i)) return []
            const more = likeIt(i) > 0 ? `${n(likeIt(i))} more` : ''
            const ran = job.ranAt !== null && job.endedAt !== null ? `took ${took(job.endedAt - job.ranAt)}` : ''
            return `#${job.id} ${job.status} ${happened[i]} ${more} ${ran} ${time(job.createdAt)}`
          })
        : [],
  }
}

export async function deploysPage(facts: Facts, { site: { engine } }: Scene): Promise<Claims> {
  const { classes, errors, before, after } = await engine.deployments.compare()
  const failed = (of: (typeof classes)[number]['before']) => (of?.counts.runs ? of.counts.errors / of.counts.runs : 0)
  const worse = ({ before, after }: (typeof classes)[number]) =>
    before?.counts.runs ? failed(after) - failed(before) : 0
  const shown = classes.filter(({ after }) => after?.counts.runs).sort((a, b) => worse(b) - worse(a))
  const share = (of: (typeof classes)[number]['before']) =>
    of?.counts.runs ? percent(of.counts.errors / of.counts.runs) : '–'
  const times = (of: (typeof classes)[number]['before']) =>
    of?.took ? `≤ ${took(of.took.p50)} / ${took(of.took.p95)}` : '–'
  return {
    ...kinds(facts, errors),
    'main h1': [facts.deploys[0]!.version!],
    '.head .note': [time(facts.deploys[0]!.at)],
    '.stack > section:nth-of-type(2) > header .tag': [n(shown.length)],
    '.stack > section:nth-of-type(2) > header .right': [`${took(before.to - before.from)}, ${since(after.from)}`],
    '.stack > section:nth-of-type(2) tbody tr': shown.map(({ queue, class: name, before, after }) =>
      [
        name,
        queue,
        `${n(before?.counts.runs ?? 0)} → ${n(after?.counts.runs ?? 0)}`,
        `${share(before)} → ${share(after)}`,
        `${times(before)} → ${times(after)}`,
      ].join(' | '),
    ),
    '.stack > section:nth-of-type(3) > header .tag': [n(facts.deploys.length)],
    '.stack > section:nth-of-type(3) tbody tr': (found) =>
      facts.deploys.map(({ id, at }, i) => row('', '', ...(found[i]?.split(' | ').length === 4 ? [id] : []), time(at))),
  }
}

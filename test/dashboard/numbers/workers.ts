// Classes: the list, one class, and their counts before and after a deploy.

import { isOurs } from '../../../src/core/callback.ts'
import type { WorkerView } from '../../../src/engine/engine.ts'
import { counted, type Facts, having, messageOf } from './facts.ts'
import { kinds } from './overview.ts'
import type { Scene } from './scene.ts'
import type { Claims } from './survey.ts'
import { n, percent, row, short, since, time, took } from './words.ts'

function workerRow(facts: Facts, queue: string, name: string): string {
  const own = facts.classes.find((one) => one.queue === queue && one.class === name)
  const failed = counted(facts, { queue, class: name, status: 'failed' })
  const spread = own?.took
  const title = spread ? `{95%; mean ${took(spread.mean)}, median ${took(spread.p50)}}${took(spread.p95)}` : '–'
  return row(name, '', short(own?.counts.runs ?? 0), short(failed), title)
}

/** The standard library and our own queues come last. */
const rankOf = (queue: string): number => (queue === 'core' ? 1 : isOurs(queue) ? 2 : 0)
const byPlace = (a: WorkerView, b: WorkerView): number =>
  rankOf(a.queue) - rankOf(b.queue) || (`${a.queue}\n${a.class}` < `${b.queue}\n${b.class}` ? -1 : 1)

function idsOf(runs: readonly { job: number }[]): string {
  const more = runs.length > 2 ? [`and ${n(runs.length - 2)} more`] : []
  return [...runs.slice(0, 2).map(({ job }) => `#${job}`), ...more].join(' ')
}

function programs({ processes, others }: Facts): Claims {
  const unnamed = others.filter(({ by }) => by === 'pull')
  const pulling = processes.flatMap((one) => (one.kind === 'pull' ? [one] : []))
  return {
    '.pulls > header .tag': [n(pulling.length)],
    '.pulls tbody tr': pulling.map(({ id, queues, runs, seenAt }) =>
      row(`${id} ${queues.join(', ')}`, idsOf(runs), time(seenAt)),
    ),
    '.pulls .foot': unnamed.length > 0 ? [`${n(unnamed.length)} jobs of unnamed pull workers: ${idsOf(unnamed)}`] : [],
  }
}

async function sortedIn({ site: { engine } }: Scene) {
  const { workers } = await engine.workers.list()
  const isLibrary = ({ queue }: WorkerView) => rankOf(queue) > 0
  return Object.groupBy(workers.toSorted(byPlace), (one) => (isLibrary(one) ? 'library' : 'own'))
}

/** The classes of which a new job is created, with the names of the values that they take. */
export async function choosePage(_: Facts, scene: Scene): Promise<Claims> {
  const { own = [], library = [] } = await sortedIn(scene)
  const namesIn = ({ in: ports = {}, args }: WorkerView) =>
    [...Object.keys(ports), ...Object.keys(JSON.parse(args ?? '{}').properties ?? {})].join(', ')
  return {
    summary: [`Standard library: ${n(library.length)} classes`],
    '.choose li': [...own, ...library].map((worker) =>
      [worker.class, worker.description ?? '', namesIn(worker)].join(' '),
    ),
  }
}

export async function classesIn(facts: Facts, scene: Scene): Promise<Claims> {
  const { own = [], library = [] } = await sortedIn(scene)
  const rowsOf = (own: WorkerView[]) => [
    row('', 'Runs', 'Failed jobs', 'p95'),
    ...[...Map.groupBy(own, ({ queue }) => queue)].flatMap(([queue, own]) => [
      queue,
      ...own.map((worker) => workerRow(facts, queue, worker.class)),
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
  return {
    '.head .note': [`${n(workers.length)} classes in ${n(queues)} queues`],
    ...programs(facts),
    ...(await classesIn(facts, scene)),
  }
}

/** Upper bounds of the bars of run times. Their axis shows every second one. */
const ENDS = ['10 ms', '30 ms', '100 ms', '300 ms', '1 s', '3 s', '10 s', '30 s', '1 min', '10 min', '1 h', 'longer']

export async function workerPage(facts: Facts, scene: Scene, queue: string, name: string): Promise<Claims> {
  const row = facts.classes.find((one) => one.queue === queue && one.class === name)!
  const failed = counted(facts, { queue, class: name, status: 'failed' })
  const completed = counted(facts, { queue, class: name, status: 'completed' })
  const newest = having(facts, { queue, class: name }).slice(0, 5)
  const { workers } = await scene.site.engine.workers.list()
  const worker = workers.find((one) => one.queue === queue && one.class === name)!
  const { servedBy, history, seen, concurrency, retry, pull } = worker
  const held = facts.processes.flatMap((one) =>
    one.kind === 'pull' && one.queues.includes(queue)
      ? `${one.id}: ${n(one.runs.filter((run) => run.class === name).length)} jobs`
      : [],
  )
  const served = servedBy.map(({ id, version, at }) => `${id}, version ${version}, changed ${time(at)}`).join(', ')
  // A search for the jobs of a queue that wait for a limit reads the newest 20,000 jobs.
  const isFound = (found: readonly string[]) => facts.jobs.length < 20_000 || found.length > 0
  return {
    ...(await classesIn(facts, scene)),
    '.head .note': [`class of queue ${queue}`],
    '.wdesc dd': [
      servedBy.length > 0
        ? `${n(servedBy.length)} deployments: ${served}`
        : seen === null
          ? ''
          : [time(seen), ...held].join(' '),
      ...(concurrency === undefined ? [] : [n(concurrency)]),
      retry?.max === undefined ? 'default' : n(retry.max + 1),
      ...(pull ? ['60 s'] : []),
      history ? `default, with the last ${n(history)} runs` : 'default',
    ],
    '.stack > .card:nth-child(3) > header .right': [`${n(row.counts.runs)} runs, ${n(failed)} failed`],
    '.stack .shares svg@aria-label':
      completed + failed > 0 ? [`${n(completed)} jobs completed, ${n(failed)} failed`] : [],
    '.wideplot > .vh': [
      row.took!.buckets.flatMap((runs, i) => (runs ? [`${n(runs)} up to ${ENDS[i]}`] : [])).join(', '),
    ],
    '.wideplot .axis span': [...ENDS.filter((_, i) => i % 2 === 0), 'longer'],
    '.got > .note': (found) => found.map(() => `20,000 ${n(facts.jobs[0]!.id)}`),
    '.lasts li': (found) =>
      isFound(found) ? newest.map((job) => `#${job.id} ${job.status} ${messageOf(job)} ${time(job.createdAt)}`) : [],
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

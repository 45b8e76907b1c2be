// sidejob rehearse: runs the code of this folder with the jobs that wait on a server, without any effect.

import type { Client } from '../../client/index.ts'
import type { Worker } from '../../core/worker.ts'
import { type Command, chosen, count, type Given, type Io } from '../command.ts'
import { createReport, type Judged, linesOf, type Waiting } from './rehearsal-report.ts'

const PAGE = 100

type Recorded = Awaited<ReturnType<Client['recorded']['list']>>['jobs'][number]

const keyOf = (one: { queue?: string; class: string }): string => `${one.queue ?? 'default'}\n${one.class}`

/** All pages of a list that Redis scans. */
async function scanned<T>(read: (cursor?: string) => Promise<{ found: Record<string, T>; cursor: string | null }>) {
  const all: Record<string, T> = {}
  let next: string | null | undefined
  do {
    const { found, cursor } = await read(next ?? undefined)
    Object.assign(all, found)
    next = cursor
  } while (next !== null)
  return all
}

const at = (cursor?: string) => (cursor === undefined ? {} : { cursor })

/** Reads the steps and children that did not fit in the snapshot of a job. */
const beyond = (client: Client, id: number) => ({
  steps: () =>
    scanned(async (from) => {
      const { steps, cursor } = await client.waiting.steps(id, at(from))
      return { found: steps, cursor }
    }),
  children: () =>
    scanned(async (from) => {
      const { children, cursor } = await client.waiting.children(id, at(from))
      return { found: children, cursor }
    }),
})

/** An upper bound of the jobs that wait inside a function. */
async function mostOf(client: Client, { queue }: { queue?: string }): Promise<number> {
  const { queues } = await client.queues.list()
  return queues
    .filter(({ name }) => queue === undefined || name === queue)
    .reduce((sum, { counts }) => sum + (counts.queued ?? 0) + (counts.suspended ?? 0), 0)
}

/** Output of the functions must not mix with the report. */
async function quietly<T>(work: () => Promise<T>): Promise<T> {
  const { log, info, debug } = console
  Object.assign(console, { log: () => undefined, info: () => undefined, debug: () => undefined })
  try {
    return await work()
  } finally {
    Object.assign(console, { log, info, debug })
  }
}

async function* waitingJobs(client: Client, filter: Record<string, string>, limit: number): AsyncGenerator<Waiting> {
  let left = limit
  for (let next: string | null | undefined; next !== null && left > 0; ) {
    const { jobs, cursor } = await client.waiting.list({ ...filter, ...at(next), limit: Math.min(PAGE, left) })
    yield* jobs
    left -= jobs.length
    next = cursor
  }
}

async function rehearseAll(client: Client, given: Given, io: Io, folder: string) {
  const { definitionsOf } = await import('../../dev/definitions.ts')
  const { rehearse: judge } = await import('../../testing/rehearse.ts')
  const { workers, env } = await definitionsOf(folder)
  const known = new Map<string, Worker>(workers.map((worker) => [keyOf(worker), worker]))
  const filter = chosen(given, 'queue', 'class', 'deployment')
  const limit = given.limit === undefined ? Number.POSITIVE_INFINITY : count(given, 'limit')
  const shows = process.stderr.isTTY === true
  const most = shows ? Math.min(limit, await mostOf(client, filter)) : 0
  const report = createReport()

  let done = 0
  for await (const job of waitingJobs(client, filter, limit)) {
    const worker = known.get(keyOf(job.snapshot.job))
    const more = beyond(client, job.snapshot.job.id)
    if (worker) report.add(job, await judge(worker, job, { env, ...more }))
    else report.miss(job)
    done++
    if (shows) io.progress(done, Math.max(most, done), 'rehearsed')
  }
  return report.whole()
}

/** Replays recorded runs of ended jobs. */
async function replayAll(client: Client, given: Given, folder: string) {
  const { definitionsOf } = await import('../../dev/definitions.ts')
  const { replay } = await import('../../testing/replay.ts')
  const { workers, env } = await definitionsOf(folder)
  const filter = chosen(given, 'queue', 'class')
  const limit = given.limit === undefined ? Number.POSITIVE_INFINITY : count(given, 'limit')
  const report = createReport()
  const judged = async ({ run, fault = '' }: Recorded): Promise<Judged> => {
    if (!run) return { is: 'unjudged', why: fault }
    const replayed = await replay(workers, run, { env })
    if (replayed.is !== 'differs') return replayed
    return { is: 'differs', parts: replayed.differences.map(({ part }) => part) }
  }
  let left = limit
  for (let next: string | null | undefined; next !== null && left > 0; ) {
    const { jobs, cursor } = await client.recorded.list({ ...filter, ...at(next), limit: Math.min(PAGE, left) })
    for (const job of jobs) report.note(job, await judged(job))
    left -= jobs.length
    next = cursor
  }
  return report.whole()
}

export const rehearse: Command = {
  does: 'Run the code of this folder with every job that waits inside a function, without any effect, and report what would change',
  takes: ['[folder]'],
  options: {
    class: { type: 'string', short: 'c', does: 'only jobs of this class' },
    queue: { type: 'string', short: 'q', does: 'only jobs of this queue' },
    deployment: { type: 'string', does: 'only jobs of classes that this deployment announced' },
    recorded: {
      type: 'boolean',
      does: 'replay the last runs of ended jobs instead, for classes with history: { values: true }',
    },
    limit: { type: 'string', short: 'n', does: 'maximum number of jobs, the newest; all without it' },
  },
  async run(client, given, io, [folder = '.']) {
    const report = await quietly(() =>
      given.recorded ? replayAll(client, given, folder) : rehearseAll(client, given, io, folder),
    )
    if (io.json) io.show(report)
    else for (const line of linesOf(report)) io.print(line)
    return report.continues === report.jobs ? 0 : 1
  },
}

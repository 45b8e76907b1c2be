import type { Client } from '../../client/index.ts'
import type { Definitions } from '../../dev/definitions.ts'
import { type Command, chosen, count, everyPage, filters, type Io, pagesOf } from '../command.ts'
import { createReport, type Judged, linesOf } from './rehearsal-report.ts'

const PAGE = 100

type Recorded = Awaited<ReturnType<Client['recorded']['list']>>['jobs'][number]

type Asked = Definitions & { client: Client; filter: Record<string, string>; limit: number; moved: boolean }

async function* newest<J>(
  most: number,
  read: (query: { cursor?: string; limit: number }) => Promise<{ jobs: J[]; cursor: string | null }>,
): AsyncGenerator<J> {
  let left = most
  for await (const { jobs } of everyPage((at) => read({ ...at, limit: Math.min(PAGE, left) }))) {
    yield* jobs
    left -= jobs.length
    if (left <= 0) return
  }
}

type Children = Awaited<ReturnType<Client['waiting']['children']>>['children']

const beyond = (client: Client, id: number) => ({
  async steps(): Promise<Record<string, unknown>> {
    const pages = await pagesOf((at) => client.waiting.steps(id, at))
    return Object.assign({}, ...pages.map(({ steps }) => steps))
  },
  async children(): Promise<Children> {
    const pages = await pagesOf((at) => client.waiting.children(id, at))
    return Object.assign({}, ...pages.map(({ children }) => children))
  },
})

async function mostOf(client: Client, { queue }: { queue?: string }): Promise<number> {
  const { queues } = await client.queues.list()
  return queues
    .filter(({ name }) => queue === undefined || name === queue)
    .reduce((sum, { counts }) => sum + (counts.queued ?? 0) + (counts.suspended ?? 0), 0)
}

async function quietly<T>(work: () => Promise<T>): Promise<T> {
  const { log, info, debug } = console
  Object.assign(console, { log: () => undefined, info: () => undefined, debug: () => undefined })
  try {
    return await work()
  } finally {
    Object.assign(console, { log, info, debug })
  }
}

async function rehearseAll({ client, workers, env, filter, limit, moved }: Asked, io: Io) {
  const { rehearse: judge } = await import('../../testing/rehearse.ts')
  const { workerOf } = await import('../../testing/judge.ts')
  const shows = process.stderr.isTTY === true
  const most = shows ? Math.min(limit, await mostOf(client, filter)) : 0
  const report = createReport()
  let done = 0
  for await (const job of newest(limit, (query) => client.waiting.list({ ...filter, ...query }))) {
    const worker = workerOf(workers, job.snapshot.job)
    const more = beyond(client, job.snapshot.job.id)
    if (worker) report.add(job, await judge(worker, job, { env, ...more }), { moved })
    else report.miss(job)
    done++
    if (shows) io.progress(done, Math.max(most, done), 'rehearsed')
  }
  return report.whole()
}

async function replayAll({ client, workers, env, filter, limit }: Asked) {
  const { replay } = await import('../../testing/replay.ts')
  const report = createReport()
  const judged = async ({ run, fault = '' }: Recorded): Promise<Judged> => {
    if (!run) return { is: 'unjudged', why: fault }
    const replayed = await replay(workers, run, { env })
    if (replayed.is !== 'differs') return replayed
    return { is: 'differs', parts: replayed.differences.map(({ part }) => part) }
  }
  for await (const job of newest(limit, (query) => client.recorded.list({ ...filter, ...query })))
    report.note(job, await judged(job))
  return report.whole()
}

export const rehearse: Command = {
  does: 'Dry-run the code in this folder for every job that is waiting inside a function, and report what would change',
  takes: ['[folder]'],
  options: {
    class: filters.class,
    queue: filters.queue,
    deployment: { does: 'only jobs of classes that this deployment announced' },
    recorded: {
      type: 'boolean',
      does: 'replay the last runs of ended jobs instead, for classes with history: { values: true }',
    },
    moved: { type: 'boolean', does: 'treat pinned jobs as if they had been moved to this code' },
    limit: { short: 'n', does: 'check only the newest n jobs (default: all)' },
  },
  async run(client, given, io, [folder = '.']) {
    const limit = given.limit === undefined ? Number.POSITIVE_INFINITY : count(given, 'limit')
    const filter = chosen(given, 'queue', 'class', ...(given.recorded ? [] : ['deployment']))
    const report = await quietly(async () => {
      const { definitionsOf } = await import('../../dev/definitions.ts')
      const asked = { ...(await definitionsOf(folder)), client, filter, limit, moved: given.moved === true }
      return given.recorded ? replayAll(asked) : rehearseAll(asked, io)
    })
    if (io.json) io.show(report)
    else for (const line of linesOf(report)) io.print(line)
    return report.continues + report.pinned === report.jobs ? 0 : 1
  },
}

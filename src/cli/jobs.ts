// sidejob run, ls, show, why, …

import { ApiError, type Client } from '../client/index.ts'
import { reasons } from '../core/reasons.ts'
import { sleep } from '../core/sleep.ts'
import {
  type Command,
  chosen,
  count,
  type Given,
  type Io,
  JSON_HELP,
  jsonFrom,
  pairsIn,
  reason,
  UsageError,
} from './command.ts'
import { jobPage } from './pages.ts'
import { targetOf } from './target.ts'

const ended = ['completed', 'failed', 'terminated']
const WAIT = '20s'
const OUTPUTS = 100
const DEEP = 3
const LINK = /\[(.+?)\]\(.+?\)/

/** Each `port=json` adds a value to that input port. */
async function inputsOf(given: string[], io: Io): Promise<Record<string, unknown[]>> {
  const inputs: Record<string, unknown[]> = {}
  for (const one of given) {
    const [, port, text] = /^(\w+)=(.*)$/s.exec(one) ?? []
    if (!port) throw new UsageError(`--input: expected port=json, got ${one}`)
    const value = await jsonFrom(text!, `--input ${port}`, io)
    inputs[port] = [...(inputs[port] ?? []), value]
  }
  return inputs
}

async function resultOf(client: Client, job: number | string, query: Record<string, string | boolean>) {
  for (;;) {
    const result = await client.jobs.result(job, { wait: WAIT, ...query })
    if (result === null || !('status' in result)) return result
  }
}

/** The values stay at their ports. */
async function outputsOf(
  client: Client,
  id: number,
  ports: Record<string, unknown>,
): Promise<Record<string, unknown[]>> {
  const outputs = await Promise.all(
    Object.keys(ports).map(async (port): Promise<[string, unknown[]]> => {
      const { values } = await client.ports.look(id, 'out', port, { limit: OUTPUTS })
      return [port, values.map(({ data }) => data)]
    }),
  )
  return Object.fromEntries(outputs.filter(([, values]) => values.length > 0))
}

type Ended = {
  id: number
  class: string
  status: string
  result?: unknown
  error?: unknown
  out: Record<string, unknown[]>
}

function endedLines({ id, class: name, status, result, error, out }: Ended, page: string | undefined): string[] {
  const { message } = (error ?? {}) as { message?: string }
  return [
    `#${id} ${name} ${status}`,
    ...(message === undefined ? [] : [`error: ${message}`]),
    ...(result === undefined || result === null ? [] : [`result: ${JSON.stringify(result)}`]),
    ...Object.entries(out).map(
      ([port, values]) => `${port}: ${values.map((value) => JSON.stringify(value)).join(', ')}`,
    ),
    ...(page === undefined ? [] : [page]),
  ]
}

async function waitFor(client: Client, id: number, given: Given, { show, print, note, json }: Io): Promise<number> {
  if (!json) note(`#${id} waiting for its end`)
  const result = await resultOf(client, id, { peek: true })
  const job = await client.jobs.get(id)
  const [out, page] = await Promise.all([outputsOf(client, id, job.out), jobPage(targetOf(given), id)])
  const { class: name, status, error } = job
  const value = (result as { result?: unknown } | null)?.result
  if (json) show({ ...result, id, class: name, status, out, ...(page ? { page } : {}) })
  else for (const line of endedLines({ id, class: name, status, result: value, error, out }, page)) print(line)
  return status === 'completed' ? 0 : 1
}

const run: Command = {
  does: 'Create a job; with --wait, wait until it ends and show its outputs',
  takes: ['class'],
  options: {
    args: { type: 'string', short: 'a', does: `arguments of the job: ${JSON_HELP}` },
    input: {
      type: 'string',
      short: 'i',
      multiple: true,
      does: `initial value of an input port, as port=value; repeatable. The value is ${JSON_HELP}`,
    },
    queue: { type: 'string', short: 'q', does: 'queue of the job' },
    delay: { type: 'string', does: "delay before the job starts: '5m', '2 days'" },
    label: { type: 'string', short: 'l', multiple: true, does: 'label of the job, as name=value; repeatable' },
    unique: { type: 'string', does: 'key that only one job of the class can hold at a time' },
    wait: { type: 'boolean', short: 'w', does: 'wait until the job ends; exit code 1 unless it completes' },
  },
  async run(client, given, io, [name]) {
    const input = given.input as unknown as string[] | undefined
    const made = await client.jobs.enqueue({
      class: name!,
      ...chosen(given, 'queue', 'unique'),
      ...(given.args ? { args: await jsonFrom(String(given.args), '--args', io) } : {}),
      ...(input ? { inputs: await inputsOf(input, io) } : {}),
      ...pairsIn(given, 'label', 'labels'),
      ...(given.delay ? { wait: String(given.delay) } : {}),
      ...(given.wait ? { keepResult: true } : {}),
    })
    if (!given.wait) return void io.show(made)
    try {
      return await waitFor(client, made.id, given, io)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error
      io.tell({ id: made.id, status: 'gone' }, `#${made.id} has ended. Its class keeps no ended jobs`)
      return 0
    }
  },
}

const ls: Command = {
  does: 'List jobs, newest first',
  options: {
    status: {
      type: 'string',
      short: 's',
      does: 'only jobs with this status: queued, running, suspended, completed, failed, …',
    },
    queue: { type: 'string', short: 'q', does: 'only jobs in this queue' },
    class: { type: 'string', short: 'c', does: 'only jobs of this class' },
    group: { type: 'string', does: 'only jobs in this group' },
    parent: { type: 'string', does: 'only children of this job' },
    arg: { type: 'string', multiple: true, does: 'only jobs with this value at a path in their args: order.id=4711' },
    label: { type: 'string', short: 'l', multiple: true, does: 'only jobs with this label: customer=7' },
    sort: { type: 'string', does: 'ended: only ended jobs, most recently ended first' },
    limit: { type: 'string', short: 'n', default: '20', does: 'maximum number of jobs' },
    cursor: { type: 'string', does: 'cursor of the next page' },
  },
  async run(client, given, { show, note, json }) {
    const query = chosen(given, 'status', 'queue', 'class', 'group', 'parent', 'sort', 'limit', 'cursor')
    const pairs = { ...pairsIn(given, 'arg', 'args', 'path'), ...pairsIn(given, 'label', 'labels') }
    const page = await client.jobs.list({ ...query, ...pairs } as Parameters<Client['jobs']['list']>[0])
    if (json) return show(page)
    const moment = given.sort === 'ended' ? 'endedAt' : 'createdAt'
    show(page.jobs, ['id', 'class', 'queue', 'status', 'attempt', moment, 'error'])
    if (page.looked !== undefined) note(`${page.jobs.length} of ${page.looked} jobs match`)
    if (page.cursor) note(`more with --cursor ${page.cursor}`)
  },
}

const one = (does: string, ask: (client: Client, job: string) => Promise<unknown>, columns?: string[]): Command => ({
  does,
  takes: ['job'],
  async run(client, _, { show }, [job]) {
    show(await ask(client, job!), columns)
  },
})

const each = (
  does: string,
  act: (client: Client, job: string, given: Given) => Promise<unknown>,
  options = {},
): Command => ({
  does,
  takes: ['jobs…'],
  options: { ...options, ...reason },
  async run(client, given, { show }, jobs) {
    for (const job of jobs) show(await act(client, job, given))
  },
})

const treeLines = (
  node: { id: number; class: string; status: string; children: object },
  name = '',
  indent = '',
): string[] => [
  `${indent}${name && `${name}: `}#${node.id} ${node.class} ${node.status}`,
  ...Object.entries(node.children).flatMap(([child, below]) => treeLines(below, child, `${indent}  `)),
]

const tree: Command = {
  does: 'Show a job and all jobs below it',
  takes: ['job'],
  async run(client, _, { show, print, json }, [job]) {
    const found = await client.jobs.tree(job!)
    if (json) return show(found)
    for (const line of treeLines(found)) print(line)
  },
}

type Entry = { at: string; job?: number | null; level: string; entry: unknown }

const logLine = ({ at, job, level, entry }: Entry) =>
  [at, level, job && `#${job}`, typeof entry === 'string' ? entry : JSON.stringify(entry)].filter(Boolean).join(' ')

const FOLLOW = 1_000

const log: Command = {
  does: "Show a job's log, oldest first",
  takes: ['job'],
  options: {
    follow: { type: 'boolean', short: 'f', does: 'show new entries until the job has ended' },
    limit: { type: 'string', short: 'n', default: '100', does: 'maximum number of entries' },
  },
  async run(client, { follow, limit }, { show, print, json }, [job]) {
    const seen = new Set<string>()
    for (;;) {
      const { status } = await client.jobs.get(job!)
      const { entries } = await client.jobs.log(job!, { limit: String(limit) })
      for (const entry of entries.toReversed()) {
        if (seen.has(entry.id)) continue
        seen.add(entry.id)
        if (json) show(entry)
        else print(logLine(entry))
      }
      if (!follow || ended.includes(status)) return
      await sleep(FOLLOW)
    }
  },
}

type Change = { channel: string; message: unknown }

async function told(
  client: Client,
  { channel, message }: Change,
  given: Given,
  { show, print, json }: Io,
): Promise<boolean> {
  const [, id] = /^\/sidejob\/job\/(\d+)$/.exec(channel) ?? []
  const { status } = (message ?? {}) as { status?: string }
  if (!id || !status || (given.failed && status !== 'failed')) return false
  const job = await client.jobs.get(id).catch(() => undefined)
  if (given.class && job?.class !== given.class) return false
  const error = status === 'failed' ? (job?.error as { message?: string } | null)?.message : undefined
  const change = { job: Number(id), class: job?.class ?? null, status, ...(error ? { error } : {}) }
  if (json) show(change)
  else print([`#${id}`, job?.class ?? '(gone)', status, error].filter(Boolean).join(' '))
  return true
}

const tail: Command = {
  does: 'Show status changes as they happen, until you stop the command',
  options: {
    class: { type: 'string', short: 'c', does: 'only jobs of this class' },
    failed: { type: 'boolean', does: 'show only failures' },
    count: { type: 'string', short: 'n', does: 'stop after this many changes' },
  },
  async run(client, given, io) {
    let left = given.count === undefined ? Number.POSITIVE_INFINITY : count(given, 'count')
    const stop = new AbortController()
    const changes = await client.channels.subscribe('/sidejob/job', undefined, { signal: stop.signal })
    try {
      for await (const change of changes) {
        if (await told(client, change as Change, given, io)) left--
        if (left <= 0) break
      }
    } finally {
      stop.abort()
    }
  },
}

const send: Command = {
  does: `Write values to an input port of a job: ${JSON_HELP}`,
  takes: ['job', 'port', 'values…'],
  async run(client, _, io, [job, port, ...texts]) {
    const values: unknown[] = []
    for (const text of texts) values.push(await jsonFrom(text, 'value', io))
    io.show(await client.ports.write(job!, 'in', port!, { values }))
  },
}

const read: Command = {
  does: 'Read values from an output port of a job and remove them',
  takes: ['job', 'port'],
  options: {
    max: { type: 'string', short: 'n', default: '100', does: 'maximum number of values' },
    peek: { type: 'boolean', does: 'leave the values in the port' },
    in: { type: 'boolean', does: 'read an input port' },
  },
  async run(client, { max, peek, in: isIn }, { show, print, json }, [job, port]) {
    const dir = isIn ? 'in' : 'out'
    const { values } = peek
      ? await client.ports.look(job!, dir, port!, { limit: String(max) })
      : await client.ports.read(job!, dir, port!, { max: Number(max) })
    const data = values.map((item) => item.data)
    if (json) return show(data)
    for (const value of data) print(JSON.stringify(value))
  },
}

const result: Command = {
  does: 'Wait until a job ends and show its result',
  takes: ['job'],
  async run(client, _, { show }, [job]) {
    show(await resultOf(client, job!, { peek: true }))
  },
}

const force = { force: { type: 'boolean', does: 'terminate the jobs first' } } as const
const recursive = { recursive: { type: 'boolean', short: 'r', does: 'also terminate all jobs below them' } } as const

export const jobs: Record<string, Command> = {
  run,
  ls,
  show: one('Show everything about a job', (client, job) => client.jobs.get(job)),
  why: {
    does: 'Explain why a job is not running, starting with the immediate cause',
    takes: ['job'],
    async run(client, _, { show, print, json }, [job]) {
      const found = await client.jobs.why(job!, { deep: DEEP })
      if (json) return show(found)
      if (found.running) print('The job is running.')
      for (const { code, message } of found.reasons) {
        print(`${code}: ${message}`)
        print(
          `  Remedy: ${reasons[code as keyof typeof reasons].remedy.replace(LINK, 'docs/$1').replaceAll(/:job|<job>/g, job!)}`,
        )
      }
      for (const link of found.chain ?? []) {
        print(`  job ${link.job} (${link.class}, ${link.status}):`)
        for (const { code, message } of link.reasons) print(`    ${code}: ${message}`)
      }
    },
  },
  tree,
  runs: {
    does: "Show a job's last runs",
    takes: ['job'],
    async run(client, _, { show, json }, [job]) {
      const found = await client.jobs.runs(job!, { details: true })
      show(json ? found : found.runs, [
        'n',
        'readyAt',
        'startedAt',
        'outcome',
        'attempt',
        'by',
        'version',
        'retried',
        'error',
      ])
    },
  },
  log,
  tail,
  send,
  read,
  result,
  retry: each('Retry failed jobs and reset their attempts', (client, job) => client.jobs.retry(job)),
  terminate: each(
    'Terminate jobs; their shutdown handlers run first',
    (client, job, { recursive }) => client.jobs.terminate(job, { recursive: recursive === true }),
    recursive,
  ),
  delete: each(
    'Delete terminated jobs and all jobs below them',
    (client, job, { force }) => client.jobs.remove(job, { force: force === true }),
    force,
  ),
}

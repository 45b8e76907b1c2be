// sidejob run, ls, show, why, …: one job, or a page of them.

import { ApiError, type Client } from '../client/index.ts'
import { type Command, chosen, count, type Given, type Io, jsonOf, UsageError } from './command.ts'

const ended = ['completed', 'failed', 'terminated']
const WAIT = '20s'
/** How many jobs further `why` looks. */
const DEEP = 3

/** `port=json`, each a value for that input port. */
function inputsOf(given: string[]): Record<string, unknown[]> {
  const inputs: Record<string, unknown[]> = {}
  for (const one of given) {
    const [, port, text] = /^(\w+)=(.*)$/s.exec(one) ?? []
    if (!port) throw new UsageError(`--input: expected port=json, got ${one}`)
    const value = jsonOf(text!, `--input ${port}`)
    inputs[port] = [...(inputs[port] ?? []), value]
  }
  return inputs
}

/** Waits until a job has ended; answers its result as the API does. */
async function resultOf(client: Client, job: number | string, query: Record<string, string | boolean>) {
  for (;;) {
    const result = await client.jobs.result(job, { wait: WAIT, ...query })
    if (result === null || !('status' in result)) return result
  }
}

const run: Command = {
  does: 'makes a job; with --wait, waits for its end and shows its result',
  takes: ['class'],
  options: {
    args: { type: 'string', short: 'a', does: 'its arguments, as JSON' },
    input: {
      type: 'string',
      short: 'i',
      multiple: true,
      does: 'port=json: a first value of an input port; again and again',
    },
    queue: { type: 'string', short: 'q', does: 'its queue' },
    delay: { type: 'string', does: "when it begins: '5m', '2 days'" },
    unique: { type: 'string', does: 'a key that only one job of its class has' },
    wait: { type: 'boolean', short: 'w', does: 'waits for its end; exit code 1 when it has failed' },
  },
  async run(client, given, { show, note, tell }, [name]) {
    const input = given.input as unknown as string[] | undefined
    const made = await client.jobs.enqueue({
      class: name!,
      ...chosen(given, 'queue', 'unique'),
      ...(given.args ? { args: jsonOf(String(given.args), '--args') } : {}),
      ...(input ? { inputs: inputsOf(input) } : {}),
      ...(given.delay ? { wait: String(given.delay) } : {}),
      ...(given.wait ? { keepResult: true } : {}),
    })
    if (!given.wait) return void show(made)
    try {
      const result = await resultOf(client, made.id, {})
      const { id, status } = await client.jobs.get(made.id)
      show(result ?? { id, status })
      if (status === 'completed') return 0
      note(`job ${id} is ${status}`)
      return 1
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error
      tell({ id: made.id, status: 'gone' }, `job ${made.id} has ended, and its class keeps no jobs that have`)
      return 0
    }
  },
}

/** `path=value`, each once. */
function argsIn(given: readonly string[] = []): { args?: Record<string, string> } {
  const all = given.map((one) => {
    const [, path, value] = /^([^=]+)=(.*)$/s.exec(one) ?? []
    if (path === undefined) throw new UsageError(`--arg: expected path=value, got ${one}`)
    return [path, value!] as const
  })
  return all.length > 0 ? { args: Object.fromEntries(all) } : {}
}

const ls: Command = {
  does: 'lists jobs, newest first',
  options: {
    status: { type: 'string', short: 's', does: 'only these: queued, running, suspended, completed, failed, …' },
    queue: { type: 'string', short: 'q', does: 'only of this queue' },
    class: { type: 'string', short: 'c', does: 'only of this class' },
    group: { type: 'string', does: 'only of this group' },
    parent: { type: 'string', does: 'only the children of this job' },
    arg: { type: 'string', multiple: true, does: 'only with this at a path in its args: order.id=4711' },
    sort: { type: 'string', does: 'ended: those that have ended, the newest end first' },
    limit: { type: 'string', short: 'n', default: '20', does: 'how many' },
    cursor: { type: 'string', does: 'goes on where the page before ended' },
  },
  async run(client, given, { show, note, json }) {
    const query = chosen(given, 'status', 'queue', 'class', 'group', 'parent', 'sort', 'limit', 'cursor')
    const args = argsIn(given.arg as unknown as string[] | undefined)
    const page = await client.jobs.list({ ...query, ...args } as Parameters<Client['jobs']['list']>[0])
    if (json) return show(page)
    const moment = given.sort === 'ended' ? 'endedAt' : 'createdAt'
    show(page.jobs, ['id', 'class', 'queue', 'status', 'attempt', moment, 'error'])
    if (page.looked !== undefined) note(`${page.jobs.length} of ${page.looked} jobs that were looked through fit`)
    if (page.cursor) note(`more with --cursor ${page.cursor}`)
  },
}

/** A verb that asks for one job and shows the answer. */
const one = (does: string, ask: (client: Client, job: string) => Promise<unknown>, columns?: string[]): Command => ({
  does,
  takes: ['job'],
  async run(client, _, { show }, [job]) {
    show(await ask(client, job!), columns)
  },
})

/** A verb that is done to each of some jobs. */
const each = (
  does: string,
  act: (client: Client, job: string, given: Given) => Promise<unknown>,
  options = {},
): Command => ({
  does,
  takes: ['jobs…'],
  options,
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
  does: 'shows a job with all below it',
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
  does: "shows a job's log, oldest first; with --follow, what comes after as well",
  takes: ['job'],
  options: {
    follow: { type: 'boolean', short: 'f', does: 'goes on until the job has ended' },
    limit: { type: 'string', short: 'n', default: '100', does: 'how many entries' },
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
      await new Promise((resolve) => setTimeout(resolve, FOLLOW))
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
  does: 'tells of every job whose status changes, until it is stopped',
  options: {
    class: { type: 'string', short: 'c', does: 'only of this class' },
    failed: { type: 'boolean', does: 'only those that fail' },
    count: { type: 'string', short: 'n', does: 'ends after so many' },
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
  does: 'writes values to an input port of a job',
  takes: ['job', 'port', 'values…'],
  async run(client, _, { show }, [job, port, ...texts]) {
    const values = texts.map((text) => jsonOf(text, 'value'))
    show(await client.ports.write(job!, 'in', port!, { values }))
  },
}

const read: Command = {
  does: 'takes values from an output port of a job; with --peek, leaves them there',
  takes: ['job', 'port'],
  options: {
    max: { type: 'string', short: 'n', default: '100', does: 'how many at most' },
    peek: { type: 'boolean', does: 'leaves them there' },
    in: { type: 'boolean', does: 'of an input port' },
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
  does: 'waits for the end of a job and shows its result, which stays',
  takes: ['job'],
  async run(client, _, { show }, [job]) {
    show(await resultOf(client, job!, { peek: true }))
  },
}

const force = { force: { type: 'boolean', does: 'terminates it first' } } as const
const recursive = { recursive: { type: 'boolean', short: 'r', does: 'all below it, too' } } as const

export const jobs: Record<string, Command> = {
  run,
  ls,
  show: one('shows everything about a job', (client, job) => client.jobs.get(job)),
  why: {
    does: 'says why a job is not running, the immediate cause first, and why the jobs behind it are not',
    takes: ['job'],
    async run(client, _, { show, print, json }, [job]) {
      const found = await client.jobs.why(job!, { deep: DEEP })
      if (json) return show(found)
      if (found.running) print('it is running')
      for (const { code, message } of found.reasons) print(`${code}: ${message}`)
      for (const link of found.chain ?? []) {
        print(`  job ${link.job} (${link.class}, ${link.status}):`)
        for (const { code, message } of link.reasons) print(`    ${code}: ${message}`)
      }
    },
  },
  tree,
  runs: {
    does: "shows a job's last runs; of a job with a history with their numbers, and since when it was ready",
    takes: ['job'],
    async run(client, _, { show, json }, [job]) {
      const found = await client.jobs.runs(job!, { details: true })
      show(json ? found : found.runs, ['n', 'readyAt', 'startedAt', 'outcome', 'attempt', 'by', 'retried', 'error'])
    },
  },
  log,
  tail,
  send,
  read,
  result,
  retry: each('runs failed jobs again, with their attempts counted anew', (client, job) => client.jobs.retry(job)),
  terminate: each(
    'ends jobs for good, after their shutdown run',
    (client, job, { recursive }) => client.jobs.terminate(job, { recursive: recursive === true }),
    recursive,
  ),
  delete: each(
    'deletes jobs that are terminated, with all below them',
    (client, job, { force }) => client.jobs.remove(job, { force: force === true }),
    force,
  ),
}

import type { Client } from '../client/index.ts'
import { reasons } from '../core/reasons.ts'
import {
  type Command,
  chosen,
  count,
  filters,
  type Given,
  JSON_HELP,
  jsonFrom,
  look,
  paging,
  pairs,
  pairsOf,
  reason,
} from './command.ts'
import { log, tail } from './follow.ts'
import { resultOf, run } from './run.ts'

const DEEP = 3
const LINK = /\[(.+?)\]\(.+?\)/

const listOptions = {
  status: {
    short: 's',
    does: 'only jobs with this status: queued, running, suspended, completed, failed, …',
  },
  ...filters,
  parent: { does: 'only children of this job' },
  arg: pairs.arg,
  label: pairs.label,
  sort: { does: 'ended: only ended jobs, most recently ended first' },
  ...paging,
} as const satisfies Command['options']

const ls: Command = {
  does: 'List jobs, newest first',
  options: listOptions,
  async run(client, given, { show, note, json }) {
    const query = chosen(given, ...Object.keys(listOptions))
    const page = await client.jobs.list({ ...query, ...pairsOf(given) } as Parameters<Client['jobs']['list']>[0])
    if (json) return show(page)
    const moment = given.sort === 'ended' ? 'endedAt' : 'createdAt'
    show(page.jobs, ['id', 'class', 'queue', 'status', 'attempt', moment, 'error'])
    if (page.looked !== undefined) note(`${page.jobs.length} of ${page.looked} jobs match`)
    if (page.cursor) note(`more with --cursor ${page.cursor}`)
  },
}

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
    max: { short: 'n', fields: ['max', 'limit'], default: '100', does: 'maximum number of values' },
    peek: { type: 'boolean', does: 'leave the values in the port' },
    in: { type: 'boolean', does: 'read an input port' },
  },
  async run(client, given, { show, print, json }, [job, port]) {
    const { peek, in: isIn } = given
    const max = count(given, 'max')
    const dir = isIn ? 'in' : 'out'
    const { values } = peek
      ? await client.ports.look(job!, dir, port!, { limit: String(max) })
      : await client.ports.read(job!, dir, port!, { max })
    const data = values.map((item) => item.data)
    if (json) return show(data)
    for (const value of data) print(JSON.stringify(value))
  },
}

const force = { force: { type: 'boolean', does: 'terminate the jobs first' } } as const
const recursive = { recursive: { type: 'boolean', short: 'r', does: 'also terminate all jobs below them' } } as const

export const jobs: Record<string, Command> = {
  run,
  ls,
  show: look('Show everything about a job', 'job', (client, job) => client.jobs.get(job)),
  why: {
    does: 'Explain why a job is not running, starting with the immediate cause',
    takes: ['job'],
    async run(client, _, { show, print, json }, [job]) {
      const found = await client.jobs.why(job!, { deep: DEEP })
      if (json) return show(found)
      if (found.running) print('The job is running.')
      for (const { code, message, key = '<port>' } of found.reasons) {
        const remedy = reasons[code as keyof typeof reasons].remedy.replace(LINK, 'docs/$1')
        print(`${code}: ${message}`)
        print(`  Remedy: ${remedy.replaceAll(/:job|<job>/g, job!).replaceAll(/:port|<port>/g, key)}`)
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
  result: {
    does: 'Wait until a job ends and show its result',
    takes: ['job'],
    async run(client, _, { show, note, json }, [job]) {
      const result = await resultOf(client, job!, { peek: true })
      if (result === null && !json) return note(`No result is stored. sidejob show ${job} shows the status and error`)
      show(result)
    },
  },
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

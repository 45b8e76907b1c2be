import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildScripts } from '../../infra/lua-build/index.ts'
import { kinds } from '../../src/redis/key-kinds.ts'
import { jobFields, keysOf, limitFields, namedFields, queueFields } from '../../src/redis/keys.ts'

const lua = join(import.meta.dirname, '../../src/redis/lua')
const sources = readdirSync(lua, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.lua'))
  .map((file) => readFileSync(join(lua, file), 'utf8'))

const origins: [string, string][] = [
  ['queues, queue:<q>', '`~queues`, `~queue:<q>:ready`'],
  ['schedule, retry', '`~queue:<q>:timers`'],
  ['dead', '`~queue:<q>:failed`'],
  ['processes, <host>:<pid>, <host>:<pid>:workers', 'lanes in `~queue:<q>`, `~queue:<q>:leases`'],
  ['stat:processed, stat:failed', 'counts in `~queue:<q>`, of each day in `~days`'],
  ['workers:<q>', '`~workers:<q>`'],
  ['jobs, jobs:last_id, jobs:aliases', 'every `~job:<id>`, `~jobs:last_id`, `~jobs:aliases`'],
  ['job:<id>:worker, :status, :created_at, :created_by, :ran_at, :aliases, :parent', 'fields of `~job:<id>`'],
  ['job:<id>:in:<port>, :out:<port>', 'the same'],
  [
    'job:<id>:inports, :outports, their :default and :channels',
    'fields `i:` `o:` `di:` `do:` `ci:` `co:` of `~job:<id>`',
  ],
  ['job:<id>:children', 'the same, with status and class'],
  ['job:<id>:state', 'fields `s:` of `~job:<id>`'],
  ['job:<id>:rate:<minute>', 'field `m` of `~job:<id>`'],
  ['job:<id>:lock, :lock:worker', '`token` `leaseUntil` (a run) and `lockToken` `lockUntil` (a client) of `~job:<id>`'],
  ['channel:<name>', 'the same, a sorted set of id:port'],
]

const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')

const built = [...buildScripts().scripts.values()]
const purposeOf = (note: readonly string[]): string => {
  const end = note.findIndex((line, i) => i > 0 && (line === '' || /^ *[\w<>]+: /.test(line)))
  return note
    .slice(0, end < 0 ? undefined : end)
    .join(' ')
    .replace(/^\w+: /, '')
}
const scripts = built.map(({ name, note }) => [`\`${name}\``, purposeOf(note)])

const components = ['API', 'dispatcher', 'callbacks', 'tick', 'dashboard']
type Access = { by: string[]; reads: string[]; writes: string[] }

const commands = readFileSync(join(import.meta.dirname, '../../src/redis/verbs/commands.ts'), 'utf8')
const keyFor = (name: string): unknown => {
  const made = (keysOf('~') as Record<string, unknown>)[name]
  return typeof made === 'function' ? made('x') : made
}

const plain: Access[] = [
  {
    by: ['API', 'dashboard'],
    reads: [
      'audience',
      'audit',
      'bells',
      'rung',
      'ticked',
      'heart',
      'deployed',
      'deploys',
      'wake',
      'channel',
      'channels',
      'message',
      'messages',
      'constraints',
      'counts',
      'days',
      'epoch',
      'examined',
      'flags',
      'flows',
      'job',
      'jobs',
      'keys',
      'limits',
      'live',
      'log',
      'queue',
      'queues',
      'session',
      'tenants',
      'alerts',
      'views',
      'muted',
      'breaker',
      'breakers',
      'workers',
    ],
    writes: [],
  },
  {
    by: ['API'],
    reads: [],
    writes: [
      'bells',
      'deployed',
      'deploys',
      'wake',
      'audit',
      'examined',
      'flags',
      'flows',
      'keys',
      'lane',
      'session',
      'tenants',
      'alerts',
      'views',
      'muted',
    ],
  },
  { by: ['dispatcher'], reads: ['constraints', 'job', 'workers', 'sources'], writes: ['bells'] },
  { by: ['deploy'], reads: ['sources'], writes: ['sources'] },
  { by: ['tick'], reads: [], writes: ['ticked', 'heart'] },
]

const all: Access[] = [...built.map(({ access }) => access), ...plain]

const accessOf = (component: string, word: string): string => {
  const own = all.filter(({ by }) => by.includes(component))
  const may = (what: 'reads' | 'writes') => own.some((access) => access[what].includes(word))
  return `${may('reads') ? 'R' : ''}${may('writes') ? 'W' : ''}` || '–'
}

const wordOf = (key: string): string => /^~([a-z]+)/.exec(key)![1]!
const accessRows = [...new Set(Object.keys(kinds).map(wordOf))].map((word) => [
  Object.keys(kinds)
    .filter((key) => wordOf(key) === word)
    .map((key) => `\`${key}\``)
    .join(', '),
  ...components.map((component) => accessOf(component, word)),
])

const fieldTable = (fields: Record<string, readonly [short: string, note: string, kind?: string]>): string =>
  table(
    ['field', 'in Redis', 'is'],
    Object.entries(fields).map(([name, [short, note]]) => [name, `\`${short}\``, note]),
  )

const page = `# Redis keys

This page lists all keys that sidejob uses in Redis. Programs should use the API instead of these keys, because their
format may change with each schema ([upgrade.md](upgrade.md)). In this page, \`~\` is the namespace. It is \`sidejob:\`
unless \`SIDEJOB_NAMESPACE\` sets another namespace.

${table(
  ['key', 'type', 'holds'],
  Object.entries(kinds).map(([key, [type, holds]]) => [`\`${key}\``, type, holds]),
)}

## The fields of a job's record

An absent field means no, none, or the default. The code uses the long names, in TypeScript and in the sources of
scripts. Redis contains the short names, to save memory.

${fieldTable(jobFields)}

A job has one of these fields for each port, or for each field of its state:

${table(
  ['in Redis', 'is'],
  Object.entries(namedFields).map(([field, is]) => [`\`${field}\``, is]),
)}

## The fields of a queue's record

${fieldTable(queueFields)}

## The fields of a limit's record

In addition, each field \`turn:<tier>,<limit>\` contains two values: the last turn of the group in that tier, and its number of waiting jobs.

${fieldTable(limitFields)}

## The scripts

Each script does one thing, and does it in one atomic step.

${table(['script', 'does'], scripts)}

## Readers and writers of each key

The table is generated from the headers of the scripts. A test compares these headers with the commands that Redis receives. "API" means all routes, including the facades. "Dispatcher" is the code that serves lanes.
"Callbacks" are sent by jobs; the lane that performs such a job also commits its result. "Tick" runs once a minute. \`verify\` reads every key and is omitted.

${table(['keys', ...components], accessRows)}

## From SideJob's keys

${table(['SideJob', 'here'], origins)}
`

test('docs/keys.md matches keys.ts', async () => {
  await expect(page).toMatchFileSnapshot('../../docs/keys.md')
})

test('no script names a key that is not listed', () => {
  const named = new Set(sources.flatMap((text) => [...text.matchAll(/ns \.\. '([a-z]+)/g)].map(([, name]) => name!)))
  const listed = new Set(Object.keys(kinds).flatMap((key) => key.split(', ').map((one) => /^~([a-z]+)/.exec(one)?.[1])))
  expect([...named].filter((name) => !listed.has(name))).toEqual([])
})

test('headers and plain commands name existing keys', () => {
  const known = new Set(Object.keys(kinds).map(wordOf))
  const said = all.flatMap(({ reads, writes }) => [...reads, ...writes])
  expect(said.filter((word) => !known.has(word))).toEqual([])
  const by = new Set(built.flatMap(({ access }) => access.by))
  expect([...by].filter((one) => !components.includes(one))).toEqual(['doctor'])
})

test('plain commands touch listed keys only', () => {
  const named = [...commands.matchAll(/redis\.(\w+)\(\s*(?:`\$\{)?keys\.(\w+)/g)].map(([, , name]) => name!)
  const words = named.map((name) => /^~:?([a-z]+)/.exec(String(keyFor(name)))![1]!)
  const listed = new Set(plain.flatMap(({ reads, writes }) => [...reads, ...writes]))
  expect(words.length).toBeGreaterThan(10)
  expect(words.filter((word) => !listed.has(word))).toEqual([])
})

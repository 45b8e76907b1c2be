// Writes the page of keys from src/redis/keys.ts, and holds the scripts to what it lists.
// After a change: npx vitest run test/docs/keys.test.ts -u

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildScripts } from '../../infra/build-lua.ts'
import { fields, kinds } from '../../src/redis/keys.ts'

const lua = join(import.meta.dirname, '../../src/redis/lua')
const sources = readdirSync(lua, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.lua'))
  .map((file) => readFileSync(join(lua, file), 'utf8'))

/** SideJob's keys, and where the same is now. */
const origins: [string, string][] = [
  ['queues, queue:<q>', '`~queues`, `~queue:<q>:ready`'],
  ['schedule, retry', '`~queue:<q>:timers`'],
  ['dead', '`~queue:<q>:failed`'],
  ['processes, <host>:<pid>, <host>:<pid>:workers', 'lanes in `~queue:<q>`, `~queue:<q>:leases`'],
  ['stat:processed, stat:failed', 'counts of the day in `~queue:<q>`'],
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
  ['job:<id>:lock, :lock:worker', 'fields `tk` `le` (a run) and `lk` `lu` (a client) of `~job:<id>`'],
  ['channel:<name>', 'the same, a sorted set of id:port'],
]

const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')

const scripts = [...buildScripts().scripts.values()].map(({ source }) => [
  `\`${source.name}\``,
  source.note[0]!.replace(/^\w+: /, ''),
])

const page = `# What is in Redis

\`~\` is the namespace, \`sidejob:\` unless \`SIDEJOB_NAMESPACE\` says otherwise.

${table(
  ['key', 'type', 'holds'],
  Object.entries(kinds).map(([key, [type, holds]]) => [`\`${key}\``, type, holds]),
)}

## The fields of a job's document

Absent means: not so, none, or the default.

${table(
  ['field', 'is'],
  Object.entries(fields).map(([field, is]) => [`\`${field}\``, is]),
)}

## The scripts

One script is one verb, and one atomic step.

${table(['script', 'does'], scripts)}

## From SideJob's keys

${table(['SideJob', 'here'], origins)}
`

test('docs/keys.md is what keys.ts says', async () => {
  await expect(page).toMatchFileSnapshot('../../docs/keys.md')
})

test('no script names a key that is not listed', () => {
  const named = new Set(sources.flatMap((text) => [...text.matchAll(/ns \.\. '([a-z]+)/g)].map(([, name]) => name!)))
  const listed = new Set(Object.keys(kinds).flatMap((key) => key.split(', ').map((one) => /^~([a-z]+)/.exec(one)?.[1])))
  expect([...named].filter((name) => !listed.has(name))).toEqual([])
})

test('no script uses a field that is not listed', () => {
  const used = new Set(
    sources.flatMap((text) => [...text.matchAll(/\bdoc\.([a-z][a-z0-9]*)\b/g)].map(([, name]) => name!)),
  )
  // Of a queue's or a limit's document, or of this script alone.
  const others = new Set([
    'c',
    'day',
    'l',
    'ml',
    'b',
    'nt',
    'nl',
    'nr',
    'wk',
    'tb',
    'pw',
    'lw',
    'wc',
    'mv',
    'pc',
    'paused',
    'r',
    'p',
    'a',
    'j',
    'auto',
    'open',
    'shut',
    'gone',
    'm',
  ])
  const listed = new Set(Object.keys(fields))
  expect([...used].filter((name) => !listed.has(name) && !others.has(name))).toEqual([])
})

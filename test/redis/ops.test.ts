// What TypeScript writes is what Lua reads: verb by verb, in the same order, in the same way.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ops, verbs } from '../../src/redis/ops.ts'
import { createVault } from '../../src/redis/vault.ts'

const folder = join(import.meta.dirname, '../../src/redis/lua/lib/run/ops')
const sources = readdirSync(folder)
  .map((file) => readFileSync(join(folder, file), 'utf8'))
  .join('\n')

/** The code of a verb in Lua, with what it asks others to read put in. */
function codeOf(verb: string): string {
  const code = new RegExp(`function verbs\\.${verb}\\(me\\)(.*? end\\n|[\\s\\S]*?\\nend\\n)`).exec(sources)?.[1] ?? ''
  return code.replace('need_lock(me)', 'take()')
}

/** How Lua reads each argument, in order. */
const readingsOf = (verb: string): string[] =>
  [...codeOf(verb).matchAll(/take_target|take_list|take_int|for _ = 1, take_int|take\(\) == '1'|take\(\)/g)].map(
    ([reading]) => (reading.startsWith('for') ? 'pairs' : reading),
  )

const wanted: Record<string, string[]> = {
  target: ['take_target'],
  text: ['take()'],
  value: ['take()'],
  values: ['take_list'],
  field: ['take()'],
  moment: ['take()'],
  flag: ["take() == '1'"],
  number: ['take_int'],
  list: ['take_list'],
  fields: ['pairs', 'take()', 'take()'],
}

test.each(Object.entries(verbs))('%s is read as it is written', (verb, args) => {
  expect(codeOf(verb)).not.toBe('')
  const readings = readingsOf(verb).map((one) => (one === 'pairs' ? 'pairs' : one))
  expect(readings).toEqual(Object.values(args).flatMap((kind) => wanted[kind as string]!))
})

test('words say what was given, and nothing where nothing was', () => {
  expect(ops.run({ force: true })).toEqual(['run', '', '1', '', '', ''])
  expect(ops.run({ of: 7, wait: 5, parent: true })).toEqual(['run', '7', '', '', '5', '1'])
  expect(ops.retry()).toEqual(['retry', ''])
  expect(ops.expect({ statuses: ['queued', 'running'] })).toEqual(['expect', '2', 'queued', 'running'])
})

test('fields have long names here and short ones in words', () => {
  expect(ops.patch({ fields: { priority: '5', repeats: '' } })).toEqual(['patch', '2', 'p', '5', 'rp', ''])
  expect(ops.was({ field: 'state:graph', values: createVault().sealedAs('x', 'state:graph') })).toEqual([
    'was',
    's:graph',
    '1',
    'x',
  ])
})

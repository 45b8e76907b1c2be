import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readArguments } from '../../infra/lua-build/fields.ts'
import type { Encoded } from '../../src/core/codec/value.ts'
import { calls, ops, runFields, setRun, verbs } from '../../src/redis/ops.ts'
import { createVault } from '../../src/redis/vault.ts'

const folder = join(import.meta.dirname, '../../src/redis/lua/lib/run/ops')
const files = readdirSync(folder)
const textOf = (file: string) => readFileSync(join(folder, file), 'utf8')

const namedIn = (table: string, of: readonly string[]): string[] =>
  of.flatMap((file) =>
    [...textOf(file).matchAll(new RegExp(`^function ${table}\\.(\\w+)`, 'gm'))].map(([, verb]) => verb!),
  )

describe('in Lua', () => {
  test('runs and callers each have their own verbs, and runs use allowed ones only', () => {
    const ofRuns = files.filter((file) => file.startsWith('on_'))
    expect(namedIn('verbs', ofRuns).sort()).toEqual(Object.keys(verbs).sort())
    expect(namedIn('verbs', ['of_callers.lua']).sort()).toEqual(Object.keys(calls).sort())
    expect(namedIn('set', ['run_fields.lua']).sort()).toEqual(Object.keys(runFields).sort())
  })

  test('verbs read their words only through the table', () => {
    const reading = files.filter((file) => /\btake(_\w+)?\b\s*\(/.test(textOf(file).replace(/^--.*$/gm, '')))
    expect(reading.filter((file) => !/^function verbs\.take\(/m.test(textOf(file)))).toEqual(['given.lua'])
    expect(textOf('of_callers.lua').match(/(?<!verbs\.|ports\.)\btake\w*\(/g)).toBeNull()
  })

  test('a verb reads its arguments in the order of the table, even if it names only some', () => {
    const read = (signature: string) => readArguments('lib/run/ops/x.lua', `function ${signature} end`)
    expect(read('verbs.adopt(me, name, job)')).toBe(
      'function verbs.adopt(me) local job = args.take() local name = args.take() end',
    )
    expect(read('verbs.delete(me, force)')).toBe(
      "function verbs.delete(me) local _, _ = given.target(me) local force = args.take() == '1' end",
    )
    expect(() => read('verbs.adopt(me, child)')).toThrow('x.lua:1: expected an argument of adopt, got child')
    expect(() => read('verbs.embrace(me)')).toThrow('x.lua:1: expected a verb, got embrace')
  })
})

test('arguments are encoded as given, and omitted ones are empty', () => {
  expect(ops.run({ force: true })).toEqual(['run', '', '1', '', '', ''])
  expect(ops.run({ of: 7, wait: 5, parent: true })).toEqual(['run', '7', '', '', '5', '1'])
  expect(ops.retry()).toEqual(['retry', ''])
  expect(setRun.retry({ after: '500' })).toEqual(['retry', '500'])
  expect(ops.expect({ statuses: ['queued', 'running'] })).toEqual(['expect', '2', 'queued', 'running'])
})

test('ports belong to the job itself, to a child or to another job', () => {
  expect(ops.take({ from: { in: 'n' }, most: 3 })).toEqual(['take', '', 'i', 'n', '3'])
  expect(ops.connect({ from: { child: 'a', out: 'm' }, to: [{ job: 7, in: 'n' }] })).toEqual([
    'connect',
    '>a',
    'o',
    'm',
    '1',
    '7',
    'i',
    'n',
  ])
})

test('fields have long names in TypeScript and short names in words', () => {
  expect(ops.patch({ fields: { priority: '5', repeats: '' } })).toEqual(['patch', '2', 'p', '5', 'rp', ''])
  const values = createVault().sealedAs('x' as Encoded, 'state graph')
  expect(ops.was({ field: 'state:graph', values })).toEqual(['was', 's:graph', '1', 'x'])
})

test('the engine writes words only through the table', () => {
  const engine = join(import.meta.dirname, '../../src/engine')
  const all = new Set([...Object.keys(verbs), ...Object.keys(calls), ...Object.keys(runFields)])
  const found = readdirSync(engine, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const text = readFileSync(join(engine, file), 'utf8')
      const lists = text.matchAll(/(?<![\w>\](]|path: |, )\['(\w+)'(?:,|\])|words\.push\('(\w+)'/g)
      return [...lists].filter(([, first, pushed]) => all.has((first ?? pushed)!)).map(([list]) => `${file}: ${list}`)
    })
  expect(found).toEqual([])
})

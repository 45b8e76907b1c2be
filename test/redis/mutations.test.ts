// Takes each rule out of the scripts and sees that its facts notice.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as committed from '../../src/redis/scripts.generated.ts'
import { kind, startState } from '../kit.ts'
import { isNoticed, readScripts } from './broken.ts'
import { ways } from './direct.ts'
import { type Mutation, mutations } from './mutations.ts'
import { rules } from './rules/index.ts'

const scripts = readScripts()

let state: Awaited<ReturnType<typeof startState>>
beforeAll(async () => {
  state = await startState()
})
afterAll(() => state.close())

/** The first fact of the rule that is no longer true. */
async function noticed(mutation: Mutation): Promise<string | undefined> {
  const broken = scripts.with(mutation)
  for (const way of ways)
    for (const [name, fact] of Object.entries(rules[mutation.rule]!))
      if (await isNoticed(fact, state.options, broken, way)) return name
  return undefined
}

test('unchanged, the scripts built here are those committed', () => {
  const shas = (of: Iterable<[string, { sha: string }]>) =>
    Object.fromEntries([...of].map(([name, { sha }]) => [name, sha]))
  expect(shas(scripts.unchanged)).toEqual(shas(Object.entries(committed)))
})

test('every rule of the scripts is taken out at least once', () => {
  expect([...new Set(mutations.map(({ rule }) => rule))]).toEqual(Object.keys(rules).map(Number))
})

describe.concurrent.each(mutations)('without rule $rule $says', (mutation) => {
  test('the change is one place of the script', () => {
    expect(scripts.occurrences(mutation)).toBe(1)
  })
  // The embedded server is too slow for all of them; what they change is the same.
  test.skipIf(kind === 'embedded')('a fact of the rule is no longer true', async () => {
    expect(await noticed(mutation)).toBeTypeOf('string')
  })
})

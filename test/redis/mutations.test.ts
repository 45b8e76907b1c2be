// Removes each rule from the Redis scripts (the rules are in the folder `rules`), and checks that a test then fails.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as committed from '../../src/redis/scripts.generated.ts'
import { kind, startState } from '../kit/index.ts'
import { isNoticed, readScripts } from './broken.ts'
import { ways } from './direct.ts'
import type { Mutation } from './mutation.ts'
import { mutations } from './mutations.ts'
import { rules } from './rules/index.ts'

const scripts = readScripts()

// The embedded server is skipped, because it is too slow and runs the same scripts.
const SERVERS = kind === 'embedded' ? 0 : 4

type State = Awaited<ReturnType<typeof startState>>
let states: State[]
beforeAll(async () => {
  states = await Promise.all(Array.from({ length: SERVERS }, () => startState()))
})
afterAll(() => Promise.all(states.map((state) => state.close())))

async function noticed(mutation: Mutation, state: State): Promise<string | undefined> {
  const broken = scripts.with(mutation)
  for (const way of ways)
    for (const [name, fact] of Object.entries(rules[mutation.rule]!)) {
      const isFalse = await isNoticed(fact, state.direct, broken, way)
      // Each check scans all keys, so leftover data would slow it down.
      await state.clear()
      if (isFalse) return name
    }
  return undefined
}

test('the build reproduces the committed scripts', () => {
  const shas = (of: Iterable<[string, { sha: string }]>) =>
    Object.fromEntries([...of].map(([name, { sha }]) => [name, sha]))
  expect(shas(scripts.unchanged)).toEqual(shas(Object.entries(committed)))
})

test('at least one mutation removes each rule of the scripts', () => {
  expect([...new Set(mutations.map(({ rule }) => rule))].sort((a, b) => a - b)).toEqual(Object.keys(rules).map(Number))
})

async function allNoticed(list: readonly Mutation[]): Promise<Map<Mutation, string | undefined>> {
  const found = new Map<Mutation, string | undefined>()
  const left = [...list]
  const runOn = async (state: State) => {
    for (let mutation = left.pop(); mutation; mutation = left.pop()) found.set(mutation, await noticed(mutation, state))
  }
  await Promise.all(states.map(runOn))
  return found
}

for (const [rule, list] of Map.groupBy(mutations, ({ rule }) => rule))
  describe(`without rule ${rule}`, () => {
    let found: Map<Mutation, string | undefined>
    beforeAll(async () => {
      found = await allNoticed(list)
    }, 600_000)
    for (const mutation of list) {
      test(`${mutation.says}: one place of the script is changed`, () => {
        expect(scripts.occurrences(mutation)).toBe(1)
      })
      test.skipIf(kind === 'embedded')(`${mutation.says}: a fact of the rule is no longer true`, () => {
        expect(found.get(mutation)).toBeTypeOf('string')
      })
    }
  })

// Takes each rule out of the scripts and sees that its facts notice.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildScripts } from '../../infra/build-lua.ts'
import { SidejobError } from '../../src/core/errors.ts'
import * as committed from '../../src/redis/scripts.generated.ts'
import { kind, startState } from '../kit.ts'
import { createWorld, type Scripts } from './direct.ts'
import { type Mutation, mutations } from './mutations.ts'
import { rules } from './rules/index.ts'

// Read once: who edits a script meanwhile does not disturb.
const sources = new Map<string, string>()
const { scripts: unchanged } = buildScripts((file, text) => {
  sources.set(file, text)
  return text
})

const occurrences = ({ file, find }: Mutation): number => sources.get(file)!.split(find).length - 1

/** The scripts with one rule taken out. */
const without = ({ file, find, replace }: Mutation): Scripts =>
  buildScripts((path) => (path === file ? sources.get(path)!.replace(find, () => replace) : sources.get(path)!)).scripts

let state: Awaited<ReturnType<typeof startState>>
beforeAll(async () => {
  state = await startState()
})
afterAll(() => state.close())

/** Something else is true, or was refused: a script that breaks down proves nothing. */
const isFinding = (error: unknown): boolean =>
  (error instanceof Error && error.name === 'AssertionError') ||
  (error instanceof SidejobError && error.code !== 'UNAVAILABLE')

/** The first fact of the rule that is no longer true. */
async function noticed(mutation: Mutation): Promise<string | undefined> {
  const scripts = without(mutation)
  for (const [name, fact] of Object.entries(rules[mutation.rule]!)) {
    const world = await createWorld(state.options, scripts)
    try {
      await fact(world)
      if ((await world.faults()).length) return name
    } catch (error) {
      if (isFinding(error)) return name
    }
  }
  return undefined
}

test('unchanged, the scripts built here are those committed', () => {
  const shas = (of: Iterable<[string, { sha: string }]>) =>
    Object.fromEntries([...of].map(([name, { sha }]) => [name, sha]))
  expect(shas(unchanged)).toEqual(shas(Object.entries(committed)))
})

test('every rule of the scripts is taken out at least once', () => {
  expect([...new Set(mutations.map(({ rule }) => rule))]).toEqual(Object.keys(rules).map(Number))
})

describe.concurrent.each(mutations)('without rule $rule $says', (mutation) => {
  test('the change is one place of the script', () => {
    expect(occurrences(mutation)).toBe(1)
  })
  // The embedded server is too slow for all of them; what they change is the same.
  test.skipIf(kind === 'embedded')('a fact of the rule is no longer true', async () => {
    expect(await noticed(mutation)).toBeTypeOf('string')
  })
})

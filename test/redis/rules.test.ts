import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startState } from '../kit/index.ts'
import { readScripts } from './broken.ts'
import { createWorld } from './direct.ts'
import { mutations } from './mutations.ts'
import { rules } from './rules/index.ts'

let state: Awaited<ReturnType<typeof startState>>
beforeAll(async () => {
  state = await startState()
})
afterAll(() => state.close())
afterEach(() => state.clear())

for (const [rule, facts] of Object.entries(rules))
  describe(`rule ${rule}`, () => {
    for (const [name, fact] of Object.entries(facts))
      test(name, async () => {
        const world = await createWorld(state.direct)
        await fact(world)
        expect(await world.faults()).toEqual([])
      })
  })

// Applying the mutations takes long, so only mutations.test.ts does it.
test('each mutation changes one place of the scripts', () => {
  const scripts = readScripts()
  expect(mutations.filter((mutation) => scripts.occurrences(mutation) !== 1).map(({ says }) => says)).toEqual([])
})

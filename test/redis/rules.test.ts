// The rules of the protocol, each as facts about real Redis. A rule that is taken out of the scripts must fail here:
// mutations.test.ts sees to that.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startState } from '../kit.ts'
import { createWorld, ways } from './direct.ts'
import { rules } from './rules/index.ts'

let state: Awaited<ReturnType<typeof startState>>
beforeAll(async () => {
  state = await startState()
})
afterAll(() => state.close())

for (const [rule, facts] of Object.entries(rules))
  describe.each(ways)(`rule ${rule}, jobs going %s`, (way) => {
    for (const [name, fact] of Object.entries(facts))
      test(name, async () => {
        const world = await createWorld(state.options, undefined, way)
        await fact(world)
        expect(await world.faults()).toEqual([])
      })
  })

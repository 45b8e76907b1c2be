// Runs the tests of rules.test.ts with packed jobs.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { transitions } from '../../src/core/job.ts'
import { startState } from '../kit/index.ts'
import { readScripts } from './broken.ts'
import { createWorld } from './direct.ts'
import { rules } from './rules/index.ts'

let state: Awaited<ReturnType<typeof startState>>
beforeAll(async () => {
  state = await startState()
})
afterAll(() => state.close())

const MOVES = 'moves that were seen'
const noting = readScripts().with({
  file: 'lib/job/places.lua',
  find: 'function places.announce(id, doc, was)\n  local is = states.of(doc)\n',
  replace: `local noted = {}
function places.announce(id, doc, was)
  local is = states.of(doc)
  local stored = not noted[id] and (redis.call('GET', ns .. 'job:' .. id) or cache.raw[ns .. 'job:' .. id])
  noted[id] = noted[id] or (stored and states.of(cjson.decode(stored)) or 'new')
  if noted[id] ~= is then redis.call('SADD', '${MOVES}', noted[id] .. ' → ' .. is) end
  noted[id] = is
`,
  says: 'each move is noted',
})

const moves = new Set<string>()
afterEach(async () => {
  for (const move of await state.direct.ask((redis) => redis.smembers<string[]>(MOVES))) moves.add(move)
  await state.clear()
})

for (const [rule, facts] of Object.entries(rules))
  describe(`rule ${rule}, jobs in pieces`, () => {
    for (const [name, fact] of Object.entries(facts))
      test(name, async () => {
        const world = await createWorld(state.direct, noting, 'in pieces')
        await fact(world)
        expect(await world.faults()).toEqual([])
      })
  })

test('jobs change status exactly as the table of transitions allows', () => {
  const there = Object.entries(transitions).flatMap(([from, to]) => Object.keys(to).map((one) => `${from} → ${one}`))
  expect([...moves].toSorted()).toEqual(there.toSorted())
})

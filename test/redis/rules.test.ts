// The rules of the protocol, each as facts about real Redis. A rule that is taken out of the scripts must fail here:
// mutations.test.ts sees to that.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { transitions } from '../../src/core/job.ts'
import { createClient } from '../../src/redis/client.ts'
import { startState } from '../kit.ts'
import { readScripts } from './broken.ts'
import { createWorld, type Way, ways } from './direct.ts'
import { mutations } from './mutations.ts'
import { rules } from './rules/index.ts'

let state: Awaited<ReturnType<typeof startState>>
beforeAll(async () => {
  state = await startState()
})
afterAll(() => state.close())

// Every move is noted by the scripts that jobs go the long way with: from the status that the job had, as Redis has it or
// as this script has made it.
const MOVES = 'moves that were seen'
const noting = readScripts().with({
  file: 'lib/status.lua',
  find: 'local function announce(id, doc, was)\n  local is = status_of(doc)\n',
  replace: `local noted = {}
local function announce(id, doc, was)
  local is = status_of(doc)
  local stored = not noted[id] and redis.call('GET', key_of(id))
  noted[id] = noted[id] or (stored and status_of(cjson.decode(stored)) or 'new')
  if noted[id] ~= is then redis.call('SADD', '${MOVES}', noted[id] .. ' → ' .. is) end
  noted[id] = is
`,
  says: 'each move is noted',
})
const scriptsOf = (way: Way) => (way === 'the long way' ? noting : undefined)

for (const [rule, facts] of Object.entries(rules))
  describe.each(ways)(`rule ${rule}, jobs going %s`, (way) => {
    for (const [name, fact] of Object.entries(facts))
      test(name, async () => {
        const world = await createWorld(state.options, scriptsOf(way), way)
        await fact(world)
        expect(await world.faults()).toEqual([])
      })
  })

test('jobs make the moves that there are, all of them, and no others', async () => {
  const seen = await createClient(state.options).ask((redis) => redis.smembers<string[]>(MOVES))
  const there = Object.entries(transitions).flatMap(([from, to]) => Object.keys(to).map((one) => `${from} → ${one}`))
  expect(seen.toSorted()).toEqual(there.toSorted())
})

// Playing them takes its time (mutations.test.ts); that each still finds its place is known at once.
test('whatever takes a rule out changes one place of the scripts', () => {
  const scripts = readScripts()
  expect(mutations.filter((mutation) => scripts.occurrences(mutation) !== 1).map(({ says }) => says)).toEqual([])
})

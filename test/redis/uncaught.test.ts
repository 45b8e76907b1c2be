// Redis 7.0 crashes if a script throws an error that is not a string, so every script must throw strings.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { startState } from '../kit/index.ts'
import { readScripts } from './broken.ts'
import { createWorld } from './direct.ts'

let state: Awaited<ReturnType<typeof startState>>
beforeAll(async () => {
  state = await startState()
})
afterAll(() => state.close())

test('a failed run whose job is deleted at its end is committed', async () => {
  const world = await createWorld(state.direct)
  const id = await world.make()
  const [run] = await world.claim()
  await world.change(id, 'delete', '', '1')
  expect(await run!.fail({ max: 3 })).toBe('deleted')
  await expect(world.document(id)).rejects.toThrow(`job ${id} does not exist`)
})

test('an uncaught refusal is an error of that call, and Redis continues', async () => {
  const fault = {
    file: 'scripts/limit.lua',
    find: 'cache.fetch(KEYS)',
    replace: "cache.fetch(KEYS)\ncache.need('999')",
    says: 'it asks for a job that is not there',
  }
  const scripts = readScripts()
  expect(scripts.occurrences(fault)).toBe(1)
  const broken = await createWorld(state.direct, scripts.with(fault))
  await expect(broken.store.limit('a', 'set', { concurrency: 1 })).rejects.toThrow('a script failed in Redis')
  const world = await createWorld(state.direct)
  expect(await world.make()).toBeGreaterThan(0)
})

// The breaker of a host: opens after failures in a row, longer each time, lets one probe through, closes on success.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createClient } from '../../src/redis/client.ts'
import { createStore, type Store } from '../../src/redis/store.ts'
import { startState } from '../kit.ts'

const settings = { threshold: 3, base: 10_000, cap: 30_000, probing: 5_000 }

let state: Awaited<ReturnType<typeof startState>>
let store: Store
let offset = 0
let spaces = 0
beforeAll(async () => {
  state = await startState()
})
afterAll(() => state.close())
beforeEach(() => {
  offset = 0
  store = createStore({ client: createClient(state.options), namespace: `b${++spaces}:`, clock: () => offset })
})

const say = (word: Parameters<Store['breaker']>[1], more = {}) => store.breaker('h', word, { ...settings, ...more })
const fail = async (times: number) => {
  for (let i = 0; i < times; i++) await say('failed')
}
const openFor = async () => Math.round(((await say('ask')).until! - (Date.now() + offset)) / 1_000)

test('it stays closed below the threshold, and a success begins anew', async () => {
  await fail(2)
  expect(await say('ask')).toEqual({ state: 'closed', failures: 2 })
  await say('succeeded')
  await fail(2)
  expect((await say('ask')).state).toBe('closed')
})

test('it opens at the threshold; calls that were under way then do not make it longer', async () => {
  await fail(6)
  expect(await say('ask')).toMatchObject({ state: 'open', failures: 3 })
  expect(await openFor()).toBe(10)
})

test('after its time one may try, the others wait for the probe', async () => {
  await fail(3)
  offset += 11_000
  expect((await say('ask')).state).toBe('probe')
  expect((await say('ask')).state).toBe('open')
  await say('probe failed')
  expect(await openFor()).toBe(20)
  offset += 21_000
  await say('ask')
  await say('probe failed', { floor: 120_000 })
  expect(await openFor()).toBe(120)
  offset += 121_000
  expect((await say('ask')).state).toBe('probe')
  await say('succeeded')
  expect(await say('ask')).toEqual({ state: 'closed', failures: 0 })
})

test('a probe that never answers gives its place to another', async () => {
  await fail(3)
  offset += 11_000
  await say('ask')
  offset += 6_000
  expect((await say('ask')).state).toBe('probe')
})

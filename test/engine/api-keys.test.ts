import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEngine } from '../../src/engine/index.ts'
import { createClient } from '../../src/redis/client.ts'
import { counted } from '../kit/counted.ts'
import { type Kit, startKit } from '../kit/index.ts'
import { costOf } from '../redis/commandstats.ts'

let kit: Kit
beforeAll(async () => {
  kit = await startKit()
})
afterAll(() => kit.close())

const about = { name: 'ci', scopes: ['read' as const] }
const may = async (key: string) => (await kit.engine.keys.authenticate(key)) !== undefined
const shown = async (id: string) => (await kit.engine.keys.list()).keys.find((key) => key.id === id)
const fresh = () => createEngine(kit.engineOptions)

test('a repeated creation with the same Idempotency-Key does not restore a removed key', async () => {
  const call = { key: 'POST /v1/keys:me:1', fingerprint: 'f' }
  const { id, key } = await kit.engine.keys.add(about, call)
  expect(await kit.engine.keys.add(about, call)).toEqual({ id, key })
  await kit.engine.keys.remove(id)
  await expect(kit.engine.keys.add(about, call)).rejects.toThrow(`this Idempotency-Key created the API key ${id}`)
  await kit.advance(25 * 3_600_000)
  const again = await kit.engine.keys.add(about, call)
  expect(again.key).not.toBe(key)
  expect([await may(key), await may(again.key)]).toEqual([false, true])
})

test('the key of the deployment has all scopes, without Redis', async () => {
  const engine = fresh()
  const { requests } = kit.counts()
  expect(await engine.keys.authenticate('dev')).toMatchObject({ scopes: ['admin'], unlimited: true })
  expect(kit.counts().requests).toBe(requests)
  expect(await engine.keys.authenticate('devil')).toBeUndefined()
})

test('a key expires at the set time', async () => {
  const { key } = await kit.engine.keys.add({ ...about, expiresAt: kit.now() + 60_000 })
  expect(await may(key)).toBe(true)
  await kit.advance(60_001)
  expect(await may(key)).toBe(false)
})

test('a rotated key remains valid during the overlap, with the same scopes', async () => {
  const { id, key } = await kit.engine.keys.add({ ...about, limits: { requestsPerSecond: 5 } })
  const next = await kit.engine.keys.rotate(id, { overlap: 60_000 })
  expect(next.until).toBeGreaterThan(kit.now())
  expect(await shown(id)).toMatchObject({ expiresAt: next.until })
  expect(await kit.engine.keys.authenticate(next.key)).toMatchObject({ ...about, limits: { requestsPerSecond: 5 } })
  expect(await may(key)).toBe(true)
  await kit.advance(60_001)
  expect([await may(key), await may(next.key)]).toEqual([false, true])
})

test('the rotation of a removed key fails, and does not restore the key', async () => {
  const { id, key } = await kit.engine.keys.add(about)
  await kit.engine.keys.remove(id)
  await expect(kit.engine.keys.rotate(id, { overlap: 60_000 })).rejects.toThrow(`there is no API key ${id}`)
  const words = ['apikey', id, '{}', '1', '']
  await expect(kit.store.change('', [words])).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(await may(key)).toBe(false)
})

test('the time of a key’s last use is stored once an hour', async () => {
  const { id, key } = await kit.engine.keys.add(about)
  expect(await shown(id)).not.toHaveProperty('lastUsedAt')
  const engine = fresh()
  await engine.keys.authenticate(key)
  const { lastUsedAt } = (await shown(id))!
  expect(lastUsedAt).toBeGreaterThan(kit.now() - 10_000)
  const { requests } = kit.counts()
  for (let i = 0; i < 20; i++) await engine.keys.authenticate(key)
  expect(kit.counts().requests).toBe(requests)
  await kit.advance(3_600_001)
  await engine.keys.authenticate(key)
  expect((await shown(id))!.lastUsedAt).toBeGreaterThan(lastUsedAt! + 3_000_000)
})

test('after 30,000 wrong keys an isolate still remembers only a thousand', async () => {
  const { Lru } = await import('../../src/core/lru.ts')
  const seen = new Lru<string, number>(1_000)
  for (let i = 0; i < 30_000; i++) seen.set(`wrong ${i}`, i)
  expect(seen.size).toBe(1_000)
  expect([seen.get('wrong 28999'), seen.get('wrong 29000')]).toEqual([undefined, 29_000])
})

counted('an unknown token costs one field of a hash, for any number of keys', async () => {
  const engine = fresh()
  await engine.keys.authenticate('dev')
  const token = `${'0'.repeat(16)}.${kit.now() + 1_000}.${'0'.repeat(64)}`
  const cost = await costOf(kit, () => engine.streamTokens.authenticate(token, '/v1/a'))
  expect(cost.commands).toEqual({ hget: 1 })
})

test('keys are listed by name, in any order of creation', async () => {
  for (const name of ['order c', 'order a', 'order b']) await kit.engine.keys.add({ name, scopes: ['read'] })
  const { keys } = await kit.engine.keys.list()
  expect(keys.map(({ name }) => name).filter((name) => name.startsWith('order'))).toEqual([
    'order a',
    'order b',
    'order c',
  ])
})

test('a login link works once, even if the first response of Redis is lost', async () => {
  const { key } = await kit.engine.keys.add(about)
  const client = createClient(kit.options)
  const { sessions } = createEngine({
    ...kit.engineOptions,
    redis: { ...client, ask: (command) => client.ask(command).then(() => client.ask(command)) },
  })
  const name = (await sessions.open(key, { life: 60_000, once: true }))!
  const session = await sessions.redeem(name, 60_000)
  expect(await sessions.get(session!)).toMatchObject(about)
  expect(await sessions.peek(name)).toBeUndefined()
  expect(await sessions.redeem(name, 60_000)).toBeUndefined()
  expect(await sessions.get(name)).toBeUndefined()
})

// Tokens for streams: they open one address, for a minute, as long as their key may.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp } from '../../src/http/app.ts'
import { type Kit, startKit } from '../kit.ts'

const PATH = '/v1/subscribe/news'

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ apiKey: 'dev' })
})
afterAll(() => kit.close())

const may = (token: string, path = PATH) => kit.engine.authenticateStream(token, path)

test('a token speaks for the key that it was given to', async () => {
  const { key } = await kit.engine.addKey({ name: 'page', scopes: ['read'] })
  expect(await may((await kit.engine.streamToken(key, PATH)).token)).toMatchObject({ name: 'page', scopes: ['read'] })
  const { token } = await kit.engine.streamToken('dev', PATH)
  expect(await may(token)).toMatchObject({ name: 'deployment', scopes: ['admin'] })
})

test('a token is for one address, and says nothing of its key', async () => {
  const { token } = await kit.engine.streamToken('dev', PATH)
  expect(await may(token, '/v1/subscribe/other')).toBeUndefined()
  expect(token).not.toContain('dev')
  expect(token.length).toBeLessThan(100)
})

test('a token that was changed, or made for a key that is not known, opens nothing', async () => {
  const { token } = await kit.engine.streamToken('dev', PATH)
  const [id, until, proof] = token.split('.') as [string, string, string]
  const changed = proof.replace(/^./, (first) => (first === '0' ? '1' : '0'))
  for (const bad of [`${id}.${until}.${changed}`, `${id}.${Number(until) + 1}.${proof}`, `${id}.${until}.`, '', 'x'])
    expect(await may(bad)).toBeUndefined()
  expect(await may((await kit.engine.streamToken('nobody', PATH)).token)).toBeUndefined()
})

test('a token ends after a minute, and with its key', async () => {
  const { id, key } = await kit.engine.addKey({ name: 'page', scopes: ['read'] })
  const { token, expiresAt } = await kit.engine.streamToken(key, PATH)
  expect(expiresAt - kit.now()).toBeLessThanOrEqual(60_000)
  await kit.advance(59_000)
  expect(await may(token)).toBeDefined()
  await kit.advance(1_001)
  expect(await may(token)).toBeUndefined()
  const fresh = await kit.engine.streamToken(key, PATH)
  await kit.engine.removeKey(id)
  expect(await may(fresh.token)).toBeUndefined()
})

test('a page of an origin that is allowed can read a stream, and no other', async () => {
  const origins = ['https://app.example.com']
  const app = createApp({ engine: kit.engine, verify: async () => false, publicUrl: 'http://127.0.0.1', origins })
  const shared = async (origin: string) => {
    const { token } = await kit.engine.streamToken('dev', PATH)
    const answer = await app.request(`${PATH}?token=${token}`, { headers: { origin } })
    await answer.body?.cancel()
    return [answer.status, answer.headers.get('access-control-allow-origin')]
  }
  expect(await shared('https://app.example.com')).toEqual([200, 'https://app.example.com'])
  expect(await shared('https://evil.example')).toEqual([200, null])
})

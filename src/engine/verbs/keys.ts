// API keys: made, removed, recognised.

import { SidejobError } from '../../core/errors.ts'
import type { Engine, Scope } from '../engine.ts'
import type { Parts } from '../parts.ts'
import { hashOf, keyFrom, newKey, sameHash } from '../secrets.ts'

export function createKeys(
  { store, change, now }: Parts,
  apiKey?: string,
): Pick<Engine, 'keys' | 'addKey' | 'removeKey' | 'authenticate'> {
  const keyCache = new Map<string, { at: number; known: { name: string; scopes: Scope[] } | undefined }>()

  let ownHash: string | undefined

  return {
    async keys() {
      const rows = Object.entries(await store.apiKeys())
      return { keys: rows.map(([id, text]) => ({ id: id.slice(0, 16), ...JSON.parse(text) })) }
    },

    async addKey({ name, scopes }, call) {
      const key = call?.key && apiKey ? await keyFrom(apiKey, call.key) : newKey()
      const hash = await hashOf(key)
      await change('', [['apikey', hash, JSON.stringify({ name, scopes, createdAt: now() })]], call)
      return { id: hash.slice(0, 16), key }
    },

    async removeKey(id) {
      const hash = Object.keys(await store.apiKeys()).find((one) => one.startsWith(id))
      if (!hash || id.length !== 16) throw new SidejobError('NOT_FOUND', `there is no API key ${id}`)
      await store.removeApiKey(hash)
      keyCache.delete(hash)
    },

    async authenticate(key) {
      const hash = await hashOf(key)
      if (apiKey) {
        ownHash ??= await hashOf(apiKey)
        if (sameHash(hash, ownHash)) return { name: 'deployment', scopes: ['admin'] }
      }
      const cached = keyCache.get(hash)
      if (cached && Date.now() - cached.at < 10_000) return cached.known
      const text = await store.apiKey(hash)
      const known = text === null ? undefined : (JSON.parse(text) as { name: string; scopes: Scope[] })
      keyCache.set(hash, { at: Date.now(), known })
      return known
    },
  }
}

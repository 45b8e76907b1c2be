// API keys: made, removed, recognised.

import { hashOf, keyFrom, newKey, proofOf, sameHash } from '../../core/crypto.ts'
import { SidejobError } from '../../core/errors.ts'
import type { Parts } from '../context.ts'
import type { Engine, Scope } from '../engine.ts'

/** How long a token for a stream opens it. */
const STREAM = 60_000

export function createKeys(
  { store, change, now }: Parts,
  apiKey?: string,
): Pick<Engine, 'keys' | 'addKey' | 'removeKey' | 'authenticate' | 'streamToken' | 'authenticateStream'> {
  const keyCache = new Map<string, { at: number; known: { name: string; scopes: Scope[] } | undefined }>()

  let ownHash: string | undefined
  const hashOfOwn = async () => apiKey && (ownHash ??= await hashOf(apiKey))

  /** What the key with this hash may do. */
  async function knownBy(hash: string): ReturnType<Engine['authenticate']> {
    const own = await hashOfOwn()
    if (own && sameHash(hash, own)) return { name: 'deployment', scopes: ['admin'] }
    const cached = keyCache.get(hash)
    if (cached && Date.now() - cached.at < 10_000) return cached.known
    const text = await store.apiKey(hash)
    const known = text === null ? undefined : (JSON.parse(text) as { name: string; scopes: Scope[] })
    keyCache.set(hash, { at: Date.now(), known })
    return known
  }

  async function hashStartingWith(id: string): Promise<string | undefined> {
    const own = await hashOfOwn()
    if (own?.startsWith(id)) return own
    return Object.keys(await store.apiKeys()).find((hash) => hash.startsWith(id))
  }

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

    authenticate: async (key) => knownBy(await hashOf(key)),

    async streamToken(key, path) {
      const hash = await hashOf(key)
      const expiresAt = now() + STREAM
      return { token: `${hash.slice(0, 16)}.${expiresAt}.${await proofOf(hash, path, expiresAt)}`, expiresAt }
    },

    async authenticateStream(token, path) {
      const [, id, until, proof] = /^([0-9a-f]{16})\.(\d{1,15})\.([0-9a-f]{64})$/.exec(token) ?? []
      if (!id || !proof || Number(until) <= now()) return undefined
      const hash = await hashStartingWith(id)
      return hash && sameHash(proof, await proofOf(hash, path, Number(until))) ? knownBy(hash) : undefined
    },
  }
}

import { hashOf, keyFrom, newKey, sameHash } from '../../core/crypto.ts'
import { SidejobError } from '../../core/errors.ts'
import { Lru } from '../../core/lru.ts'
import { readObject } from '../../core/readable.ts'
import { HOUR } from '../../core/units.ts'
import { ops } from '../../redis/ops.ts'
import type { Context } from '../context.ts'
import type { ApiKey, Call, KnownKey } from '../engine.ts'
import { createRecent } from './recent.ts'
import { createSessions } from './sessions.ts'
import { createStreamTokens, idOf } from './stream-tokens.ts'

const REMEMBERED = 1_000
const NOTED_EVERY = HOUR

type Kept = Omit<ApiKey, 'id' | 'lastUsedAt'> & { hash: string }

export function createKeys(
  { store, change, now }: Context,
  { apiKey, tenant, tokenSecret }: { apiKey?: string; tenant?: string; tokenSecret?: string },
) {
  const recent = createRecent(async (id) => readObject<Kept>(await store.apiKey(id)) ?? null)
  const noted = new Lru<string, number>(REMEMBERED)

  let ownHash: string | undefined
  const hashOfOwn = async () => apiKey && (ownHash ??= await hashOf(apiKey))

  const isOver = ({ expiresAt }: Pick<Kept, 'expiresAt'>): boolean => expiresAt !== undefined && expiresAt <= now()

  async function note(id: string) {
    if (now() - (noted.get(id) ?? 0) < NOTED_EVERY) return
    noted.set(id, now())
    await store.usedApiKey(id, now()).catch(() => noted.delete(id))
  }

  async function hashOfId(id: string): Promise<string | undefined> {
    const own = await hashOfOwn()
    if (own && idOf(own) === id) return own
    return (await recent.get(id))?.hash
  }

  async function knownBy(hash: string): Promise<KnownKey | undefined> {
    const [own, id] = [await hashOfOwn(), idOf(hash)]
    if (own && sameHash(hash, own)) return { id, name: 'deployment', scopes: ['admin'], unlimited: true }
    const kept = await recent.get(id)
    if (!kept || !sameHash(kept.hash, hash) || isOver(kept)) return undefined
    await note(id)
    const { name, scopes, limits } = kept
    return { id, name, scopes, limits }
  }

  const keep = (kept: Kept, { known = '', chance = '' }) =>
    ops.apikey({ id: idOf(kept.hash), about: JSON.stringify(kept), known, chance })

  async function needed(id: string): Promise<Kept> {
    const text = await store.apiKey(id)
    if (text === null) throw new SidejobError('NOT_FOUND', `there is no API key ${id}`)
    return JSON.parse(text) as Kept
  }

  /**
   * Redis stores only a random string. A repeated call derives the same key from this string and from a secret that is
   * not in Redis.
   */
  async function made(about: Omit<Kept, 'hash' | 'createdAt'>, call: Call | undefined, more: string[][]) {
    const chance = newKey()
    const keyOf = (from: string) => (call?.key && apiKey ? keyFrom(apiKey, from, tenant) : newKey(tenant))
    const key = await keyOf(chance)
    const hash = await hashOf(key)
    const [id, kept] = await change('', [...more, keep({ ...about, hash, createdAt: now() }, { chance })], call)
    if (id === idOf(hash)) return { id, key }
    if (apiKey && (await store.apiKey(id!)) !== null) return { id: id!, key: await keyOf(kept!) }
    throw new SidejobError(
      'TAKEN',
      `this Idempotency-Key created the API key ${id}, which cannot be shown again: use a new Idempotency-Key`,
    )
  }

  return {
    keys: {
      async list() {
        const rows = await store.apiKeys()
        const keys = Object.entries(rows).flatMap(([id, text]) => {
          if (id.startsWith('used:')) return []
          const kept = readObject<Kept>(text)
          if (!kept) return []
          const { hash: _, ...about } = kept
          const used = rows[`used:${id}`]
          return [{ id, ...about, ...(used === undefined ? {} : { lastUsedAt: Number(used) }) }]
        })
        return { keys: keys.sort((one, other) => one.name.localeCompare(other.name)) }
      },

      add: (about: Omit<ApiKey, 'id' | 'createdAt' | 'lastUsedAt'>, call?: Call) => made(about, call, []),

      /** The old key expires after `overlap` milliseconds, unless its own expiry is sooner. */
      async rotate(id: string, { overlap }: { overlap: number }, call?: Call) {
        const old = await needed(id)
        const { hash: _, createdAt: __, ...about } = old
        const until = Math.min(old.expiresAt ?? Number.POSITIVE_INFINITY, now() + overlap)
        const fresh = await made(about, call, [keep({ ...old, expiresAt: until }, { known: id })])
        recent.forget(id)
        return { ...fresh, until }
      },

      async remove(id: string) {
        await needed(id)
        await store.removeApiKey(id)
        recent.forget(id)
      },

      /** `hash`: the SHA-256 of the key, if the caller has it. */
      authenticate: async (key: string, hash?: string) => knownBy(hash ?? (await hashOf(key))),

      async isActive(id: string) {
        const own = await hashOfOwn()
        if (own && idOf(own) === id) return true
        const kept = await recent.get(id)
        return kept !== null && !isOver(kept)
      },
    },

    streamTokens: createStreamTokens({ secret: tokenSecret, tenant, now, hashOfId, knownBy }),

    sessions: createSessions({ store, knownBy, tenant }),
  }
}

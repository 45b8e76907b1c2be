// Redis stores only hashes of the names and keys of sessions.

import { hashOf, sessionName } from '../../core/crypto.ts'
import type { Store } from '../../redis/store.ts'
import type { KnownKey } from '../engine.ts'
import { createRecent } from './recent.ts'

const ONCE = 'once '
const isOnce = (text: string): boolean => text.startsWith(ONCE)

type Parts = { store: Store; knownBy: (hash: string) => Promise<KnownKey | undefined>; tenant?: string }

export function createSessions({ store, knownBy, tenant }: Parts) {
  const recent = createRecent(async (hash) => (await store.session(hash)) ?? undefined)

  async function open(keyHash: string, life: number, before = ''): Promise<string> {
    const name = sessionName(tenant)
    await store.addSession(await hashOf(name), `${before}${keyHash}`, life)
    return name
  }

  return {
    /** With `once`, returns a name that `redeem` exchanges for a session only once. */
    async open(key: string, { life, once }: { life: number; once?: boolean }): Promise<string | undefined> {
      const hash = await hashOf(key)
      return (await knownBy(hash)) ? open(hash, life, once ? ONCE : '') : undefined
    },

    async peek(name: string) {
      const text = await store.session(await hashOf(name))
      return text !== null && isOnce(text) ? knownBy(text.slice(ONCE.length)) : undefined
    },

    async redeem(name: string, life: number) {
      const hash = await hashOf(name)
      const text = await store.session(hash)
      if (text === null || !isOnce(text)) return undefined
      if (!(await store.takeSession(hash, text))) return undefined
      const keyHash = text.slice(ONCE.length)
      return (await knownBy(keyHash)) ? open(keyHash, life) : undefined
    },

    async get(name: string) {
      const text = await recent.get(await hashOf(name))
      return text === undefined || isOnce(text) ? undefined : knownBy(text)
    },

    async end(name: string) {
      const hash = await hashOf(name)
      recent.forget(hash)
      await store.removeSession(hash)
    },
  }
}

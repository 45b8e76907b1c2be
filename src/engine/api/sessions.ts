// Redis stores only hashes of the names and keys of sessions.

import { hashOf, sessionName } from '../../core/crypto.ts'
import type { Store } from '../../redis/store.ts'
import type { KnownKey } from '../engine.ts'
import { createRecent } from './recent.ts'

const ONCE = 'once '
const keyHashIn = (text: string | null): string | undefined =>
  text?.startsWith(ONCE) ? text.slice(ONCE.length) : undefined

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
      const keyHash = keyHashIn(await store.session(await hashOf(name)))
      return keyHash ? knownBy(keyHash) : undefined
    },

    async redeem(name: string, life: number) {
      const hash = await hashOf(name)
      const text = await store.session(hash)
      const keyHash = keyHashIn(text)
      if (!keyHash || !(await store.takeSession(hash, text!))) return undefined
      return (await knownBy(keyHash)) ? open(keyHash, life) : undefined
    },

    async get(name: string) {
      const text = await recent.get(await hashOf(name))
      return text === undefined || keyHashIn(text) ? undefined : knownBy(text)
    },

    async end(name: string) {
      const hash = await hashOf(name)
      recent.forget(hash)
      await store.removeSession(hash)
    },
  }
}

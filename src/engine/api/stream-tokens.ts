import { hashOf, linkSignature, newKey, sameHash } from '../../core/crypto.ts'
import { DAY, MINUTE } from '../../core/units.ts'
import type { KnownKey } from '../engine.ts'

const MAX_TOKEN_MS = 30 * DAY

/** Format: `<tenant>~<id>.<until>.<proof>`. The main deployment omits `<tenant>~`. */
const TOKEN = /^(?:[a-z0-9-]+~)?([0-9a-f]{16})\.(\d{1,15})\.([0-9a-f]{64})$/

export const idOf = (hash: string): string => hash.slice(0, 16)

type Parts = {
  secret?: string
  tenant?: string
  now: () => number
  hashOfId: (id: string) => Promise<string | undefined>
  knownBy: (hash: string) => Promise<KnownKey | undefined>
}

export function createStreamTokens({ secret, tenant, now, hashOfId, knownBy }: Parts) {
  const secretOf = () => (secret ??= newKey())

  return {
    async create(key: string, path: string, life: number = MINUTE) {
      const hash = await hashOf(key)
      const expiresAt = now() + life
      const token = `${idOf(hash)}.${expiresAt}.${await linkSignature(secretOf(), hash, path, expiresAt)}`
      return { token: tenant === undefined ? token : `${tenant}~${token}`, expiresAt }
    },

    async authenticate(token: string, path: string) {
      const [, id, until, proof] = TOKEN.exec(token) ?? []
      const left = Number(until) - now()
      if (!id || !proof || left <= 0 || left > MAX_TOKEN_MS) return undefined
      const hash = await hashOfId(id)
      return hash && sameHash(proof, await linkSignature(secretOf(), hash, path, Number(until)))
        ? knownBy(hash)
        : undefined
    },
  }
}

import { readObject } from '../core/readable.ts'
import { fieldsOf, pairsOf } from './flat.ts'
import type { Parts } from './parts.ts'

export const objectsIn = <T extends object>(texts: Record<string, string>): [name: string, object: T][] =>
  Object.entries(texts).flatMap(([name, text]): [string, T][] => {
    const object = readObject<T>(text)
    return object ? [[name, object]] : []
  })

const [PAGES, MATCHED] = [5, 2_000]

/** Redis answers with the cursor 0 at the end. */
export const nextOf = (cursor: string | number): string | null => (String(cursor) === '0' ? null : String(cursor))

export const tablesOf =
  ({ client: { ask } }: Pick<Parts, 'client'>) =>
  (key: string) => {
    async function page(cursor: string, options: { count: number; match?: string }) {
      const [next, flat] = await ask((redis) => redis.hscan(key, cursor, options))
      return [nextOf(next), flat as string[]] as const
    }

    return {
      page,
      /** Searches at most about 10,000 members. */
      async *matching(match: string): AsyncGenerator<[field: string, value: string][]> {
        let cursor: string | null = '0'
        for (let read = 0; read < PAGES && cursor !== null; read++) {
          const [next, flat]: Awaited<ReturnType<typeof page>> = await page(cursor, { match, count: MATCHED })
          yield pairsOf(flat)
          cursor = next
        }
      },
      /** In a transaction, HGETALL returns a list. Otherwise it returns an object, or null for a missing hash. */
      async all(): Promise<Record<string, string>> {
        const found = await ask<unknown>((redis) => redis.hgetall(key))
        return Array.isArray(found) ? fieldsOf(found) : ((found ?? {}) as Record<string, string>)
      },
      get: (name: string) => ask<string | null>((redis) => redis.hget(key, name)),
      async many(names: readonly string[]): Promise<(string | null)[]> {
        if (names.length === 0) return []
        const found = (await ask<unknown>((redis) => redis.hmget(key, ...names))) as (string | null)[] | null
        return found ?? names.map(() => null)
      },
      names: () => ask<string[]>((redis) => redis.hkeys(key)),
      set: (name: string, text: string) => ask<number>((redis) => redis.hset(key, { [name]: text })),
      async remove(...names: readonly string[]): Promise<number> {
        return names.length > 0 ? ask<number>((redis) => redis.hdel(key, ...names)) : 0
      },
    }
  }

import { readObject } from '../core/readable.ts'
import { fieldsOf } from './flat.ts'
import type { Parts } from './parts.ts'

export const objectsIn = <T extends object>(texts: Record<string, string>): [name: string, object: T][] =>
  Object.entries(texts).flatMap(([name, text]): [string, T][] => {
    const object = readObject<T>(text)
    return object ? [[name, object]] : []
  })

export const tablesOf =
  ({ client: { ask } }: Pick<Parts, 'client'>) =>
  (key: string) => ({
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
  })

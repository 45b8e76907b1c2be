import { Lru } from '../../core/lru.ts'

const REMEMBERED = 1_000
/** If another isolate removes a key, a session or a tenant, this isolate accepts it for up to this time. */
const FRESH_MS = 10_000

/** Does not remember undefined. */
export function createRecent<T>(read: (name: string) => Promise<T>) {
  const seen = new Lru<string, { at: number; value: T }>(REMEMBERED)
  return {
    async get(name: string): Promise<T> {
      const last = seen.get(name)
      if (last && Date.now() - last.at < FRESH_MS) return last.value
      const value = await read(name)
      if (value !== undefined) seen.set(name, { at: Date.now(), value })
      return value
    },
    forget: (name: string): void => seen.delete(name),
  }
}

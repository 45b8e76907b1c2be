// Everything that is in a Redis, a line for each key, and back.

import type { Redis } from '@upstash/redis'

type Pairs = [member: string, score: string][]
type Value = string | string[] | Record<string, string> | Pairs
export type Line = { key: string; type: string; value: Value; ttl?: number }

const pairs = (flat: unknown[]): Pairs =>
  Array.from({ length: flat.length / 2 }, (_, i) => [String(flat[2 * i]), String(flat[2 * i + 1])])

async function valueAt(redis: Redis, key: string, type: string): Promise<Value> {
  if (type === 'string') return (await redis.get<string>(key))!
  if (type === 'list') return redis.lrange<string>(key, 0, -1)
  if (type === 'set') return redis.smembers(key)
  if (type === 'hash')
    return Object.fromEntries(pairs((await redis.hgetall(key)) as unknown as string[])) as Record<string, string>
  if (type === 'zset') return pairs(await redis.zrange(key, 0, -1, { withScores: true }))
  throw new Error(`${key} is a ${type}`)
}

/** What is there, but for the log, which nobody reads to go on. */
export async function dump(redis: Redis): Promise<Line[]> {
  const lines: Line[] = []
  for (const key of (await redis.keys('*')).sort()) {
    const type: string = await redis.type(key)
    if (type === 'stream') continue
    const ttl = await redis.pttl(key)
    lines.push({ key, type, value: await valueAt(redis, key, type), ...(ttl > 0 ? { ttl } : {}) })
  }
  return lines
}

export async function load(redis: Redis, { key, type, value, ttl }: Line): Promise<void> {
  if (type === 'string') await redis.set(key, value as string)
  if (type === 'list') await redis.rpush(key, ...(value as string[]))
  if (type === 'set') await redis.sadd(key, ...(value as [string]))
  if (type === 'hash') await redis.hset(key, value as Record<string, string>)
  if (type === 'zset')
    for (const [member, score] of value as Pairs) await redis.zadd(key, { member, score: score as never })
  if (ttl) await redis.pexpire(key, ttl)
}

import type { Redis } from '@upstash/redis'

type Pairs = [member: string, score: string][]
type Value = string | string[] | Record<string, string> | Pairs
export type Line = { key: string; type: string; value: Value; ttl?: number }

const pairs = (flat: unknown[]): Pairs =>
  Array.from({ length: flat.length / 2 }, (_, i) => [String(flat[2 * i]), String(flat[2 * i + 1])])

type Pipeline = ReturnType<Redis['pipeline']>

const reads: Record<string, (pipeline: Pipeline, key: string) => unknown> = {
  string: (pipeline, key) => pipeline.get(key),
  list: (pipeline, key) => pipeline.lrange(key, 0, -1),
  set: (pipeline, key) => pipeline.smembers(key),
  hash: (pipeline, key) => pipeline.hgetall(key),
  zset: (pipeline, key) => pipeline.zrange(key, 0, -1, { withScores: true }),
}

const valueOfType = (type: string, read: unknown): Value => {
  if (type === 'hash') return Object.fromEntries(pairs(read as string[])) as Record<string, string>
  return type === 'zset' ? pairs(read as string[]) : (read as string | string[])
}

/** Reads all keys except logs, because no script reads logs. */
export async function dump(redis: Redis, pattern = '*'): Promise<Line[]> {
  const keys = (await redis.keys(pattern)).sort()
  const about = redis.pipeline()
  for (const key of keys) about.type(key).pttl(key)
  const known = await about.exec<(string | number)[]>()
  const found = keys
    .map((key, i) => ({ key, type: String(known[2 * i]), ttl: Number(known[2 * i + 1]) }))
    .filter(({ type }) => type !== 'stream')
  const values = redis.pipeline()
  for (const { key, type } of found) reads[type]!(values, key)
  const read = await values.exec()
  return found.map(({ key, type, ttl }, i) => ({
    key,
    type,
    value: valueOfType(type, read[i]),
    ...(ttl > 0 ? { ttl } : {}),
  }))
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

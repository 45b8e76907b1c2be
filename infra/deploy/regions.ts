// Where the parts of a deployment are: a lane goes to Redis for every batch, and each way across an ocean costs 100 ms.

import type { Env } from './settings.ts'

/** QStash says its region in its address; the usual one is in Frankfurt. */
export const qstashRegion = (url = 'https://qstash.upstash.io'): string =>
  /qstash-([a-z]+-[a-z]+-\d)/.exec(url)?.[1] ?? 'eu-central-1'

type Database = { endpoint?: string; region?: string; primary_region?: string }

/**
 * The region of the database: as given, or as Upstash's developer API says it; undefined when nobody knows.
 *
 * @example await redisRegion({ UPSTASH_REDIS_REST_URL, UPSTASH_EMAIL, UPSTASH_API_KEY })
 */
export async function redisRegion(env: Env): Promise<string | undefined> {
  if (env.UPSTASH_REDIS_REGION) return env.UPSTASH_REDIS_REGION
  if (!env.UPSTASH_EMAIL || !env.UPSTASH_API_KEY) return undefined
  const response = await fetch(`${env.UPSTASH_API_URL ?? 'https://api.upstash.com'}/v2/redis/databases`, {
    headers: { authorization: `Basic ${btoa(`${env.UPSTASH_EMAIL}:${env.UPSTASH_API_KEY}`)}` },
    signal: AbortSignal.timeout(30_000),
  }).catch(() => undefined)
  if (!response?.ok) return undefined
  const databases = (await response.json()) as Database[]
  const { host } = new URL(env.UPSTASH_REDIS_REST_URL!)
  const found = databases.find(({ endpoint }) => endpoint === host)
  return found?.primary_region ?? (found?.region === 'global' ? undefined : found?.region)
}

/** What should be said about where things are. */
export function warnings(places: { redis?: string; qstash: string; roundTrip: number }): string[] {
  const { redis, qstash, roundTrip } = places
  return [
    redis === undefined &&
      'The region of the database is not known, and so the Worker is not placed near it: set UPSTASH_REDIS_REGION, or ' +
        'UPSTASH_EMAIL and UPSTASH_API_KEY.',
    redis !== undefined &&
      redis !== qstash &&
      `QStash (${qstash}) and the database (${redis}) are apart: each bell travels that far. QStash has a region of its ` +
        'own in us-east-1 (QSTASH_URL and its keys).',
    roundTrip > 50 && `A round trip from the Worker to Redis took ${roundTrip} ms: put both into one region.`,
  ].filter((sentence) => typeof sentence === 'string')
}

// Finds the region of Redis, because an ocean between Redis and the Worker would add 100 ms to each request.

import { fetchAgain } from './again.ts'
import { DeployFailure } from './failure.ts'
import type { Env } from './settings.ts'

const US = 'us-east-1'
const EU = 'eu-central-1'

/** If the address names no region, QStash is in Frankfurt. */
export const qstashRegion = (url = 'https://qstash.upstash.io'): string =>
  /qstash-([a-z]+-[a-z]+-\d)/.exec(url)?.[1] ?? EU

type Listed = {
  database_id?: string
  database_name?: string
  endpoint?: string
  region?: string
  primary_region?: string
  read_regions?: string[]
  eviction?: boolean
  type?: string
  database_type?: string
  budget?: number
  db_lua_timeout?: number
  db_lua_credits_per_min?: number
}

export type Database = {
  name: string
  region?: string
  readRegions: string[]
  eviction?: boolean
  plan?: string
  /** USD per month. */
  budget?: number
  luaMs?: number
  luaMsPerMinute?: number
}

const API = 'https://api.upstash.com'
const NS_PER_MS = 1_000_000

const inMs = (ns: number | undefined): number | undefined => (ns === undefined ? undefined : ns / NS_PER_MS)

/** The API shortens some endpoints to the first part of their host name. */
const isAt = (host: string, endpoint = ''): boolean => host === endpoint || host.split('.')[0] === endpoint

export async function databaseOf(env: Env): Promise<Database | undefined> {
  if (!env.UPSTASH_EMAIL || !env.UPSTASH_API_KEY) return undefined
  const headers = { authorization: `Basic ${btoa(`${env.UPSTASH_EMAIL}:${env.UPSTASH_API_KEY}`)}` }
  const ask = async <T>(path: string): Promise<T | undefined> => {
    const response = await fetchAgain(`${env.UPSTASH_API_URL ?? API}/v2/redis/${path}`, { headers }).catch(
      () => undefined,
    )
    return response?.ok ? ((await response.json()) as T) : undefined
  }
  const { host } = new URL(env.UPSTASH_REDIS_REST_URL!)
  const listed = (await ask<Listed[]>('databases'))?.find(({ endpoint }) => isAt(host, endpoint))
  if (!listed) return undefined
  const details = await ask<Listed>(`database/${listed.database_id}?credentials=hide`)
  const found = { ...listed, ...details }
  return {
    name: found.database_name ?? host,
    region: found.primary_region || (found.region === 'global' ? undefined : found.region),
    readRegions: found.read_regions ?? [],
    eviction: found.eviction,
    plan: found.type ?? found.database_type,
    budget: found.budget,
    luaMs: inMs(found.db_lua_timeout),
    luaMsPerMinute: inMs(found.db_lua_credits_per_min),
  }
}

/** A database with eviction would delete jobs without notice. */
export function refuseEviction({ eviction, name }: Database): void {
  if (!eviction) return
  throw new DeployFailure(
    `Eviction is on for the database ${name}: when it is full, Upstash deletes random keys, including jobs. ` +
      'Turn Eviction off on the page of the database in the Upstash console, then deploy again.',
  )
}

/** AWS regions end with a hyphen and a digit, Google Cloud regions only with a digit. */
export function placementOf(region: string): string {
  if (/^(aws|gcp|azure):[\w-]+$/.test(region)) return region
  if (/^[a-z]+(-[a-z]+)+-\d+$/.test(region)) return `aws:${region}`
  if (/^[a-z]+-[a-z]+\d+$/.test(region)) return `gcp:${region}`
  throw new DeployFailure(
    `UPSTASH_REDIS_REGION: expected a region such as us-east-1 (AWS) or us-central1 (Google Cloud), got ${JSON.stringify(region)}`,
  )
}

const nearestQstash = (region: string): string =>
  /^(us|ca|sa|mx|northamerica|southamerica)-/.test(region.replace(/^\w+:/, '')) ? US : EU

export function distanceWarnings(places: { redis?: string; qstash: string; roundTrip: number }): string[] {
  const { redis, qstash, roundTrip } = places
  return [
    redis === undefined &&
      'The region of the database is not known, so the Worker is not placed near it. Set UPSTASH_REDIS_REGION, or ' +
        'UPSTASH_EMAIL and UPSTASH_API_KEY.',
    redis !== undefined &&
      qstash !== nearestQstash(redis) &&
      `QStash (${qstash}) is far from the database (${redis}), which delays each bell. Use QStash in ` +
        `${nearestQstash(redis)}: its QSTASH_URL, token and signing keys are in the Upstash console.`,
    roundTrip > 50 && `A round trip from the Worker to Redis took ${roundTrip} ms: put both into one region.`,
  ].filter((sentence) => typeof sentence === 'string')
}

export function databaseWarnings({ name, readRegions, budget, plan }: Database): string[] {
  return [
    readRegions.length > 0 &&
      `The database ${name} has read regions (${readRegions.join(', ')}): sidejob does not use them, and each write is billed once more.`,
    plan === 'paid' &&
      budget !== undefined &&
      budget > 0 &&
      `The database ${name} has a budget of $${budget} a month: Upstash refuses commands above it, and jobs stop until the next month.`,
  ].filter((sentence) => typeof sentence === 'string')
}

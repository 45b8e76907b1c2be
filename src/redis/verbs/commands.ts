import type { Encoded } from '../../core/codec/value.ts'
import { mapValues } from '../../core/map-values.ts'
import { readable, readObject } from '../../core/readable.ts'
import { fieldsOf, pairsOf } from '../flat.ts'
import { itemOf, type LastMessage, lastMessageOf } from '../item.ts'
import { literal } from '../keys.ts'
import type { Parts } from '../parts.ts'
import { type Child, childrenOf, type DayRecord, decodeDay } from '../record.ts'
import { tablesOf } from '../table.ts'
import type { Ready } from '../types.ts'
import { THERE_ARE_TENANTS } from './standing.ts'

const STEPS = 2_000
const CHILDREN = 1_000
const PAGES = 5
const CHANNELS = 1_000
/** Maximum listeners to return for one channel, and in one page. */
const [MOST_OF_ONE, LISTENERS] = [1_000, 10_000]

const usedField = (id: string): string => `used:${id}`
/** Returns undefined if there are too many ports to list: see lib/port/audience.lua. */
function listedIn(audience: string | null): string[] | undefined {
  const [head = '0', ...ports] = (audience ?? '0').split(' ')
  return ports.length === Number.parseInt(head, 10) ? ports : undefined
}

const TENANT_KEYS = 1_000

type StepKept = { at: number | null; ms: number | null; run: number | null }

const STEP = /^@(\d*),(\d*),(\d*)\n/

function keptOf(text: string): StepKept {
  const [at = null, ms = null, run = null] = (STEP.exec(text) ?? []).slice(1).map((n) => (n ? Number(n) : null))
  return { at, ms, run }
}

/** @example anyCase('a1') // '*[aA]1*' */
const anyCase = (text: string): string => {
  const letters = [...text].map((c) => {
    const [lower, upper] = [c.toLowerCase(), c.toUpperCase()]
    return lower === upper || lower.length > 1 || upper.length > 1 ? literal(c) : `[${lower}${upper}]`
  })
  return `*${letters.join('')}*`
}

const KEPT_BUILDS = 5

const nextOf = (cursor: string | number): string | null => (String(cursor) === '0' ? null : String(cursor))

export function createCommands(parts: Parts) {
  const { client, keys, vault } = parts
  const { ask } = client
  const { open, show } = vault
  const tableAt = tablesOf(parts)
  const [tenants, sources] = [tableAt(keys.tenants), tableAt(keys.sources)]
  const [apiKeys, graphs] = [tableAt(keys.apiKeys), tableAt(keys.flows)]

  const page = async (
    key: string,
    cursor: string,
    options: { count: number; match?: string },
  ): Promise<[cursor: string | null, flat: string[]]> => {
    const [next, flat] = await ask<[string, string[]]>(
      (redis) => redis.hscan(key, cursor, options) as Promise<[string, string[]]>,
    )
    return [nextOf(next), flat]
  }

  /** Searches at most about 10,000 members. */
  async function* matching(key: string, match: string): AsyncGenerator<[field: string, value: string][]> {
    let cursor: string | null = '0'
    for (let read = 0; read < PAGES && cursor !== null; read++) {
      const [next, flat]: [string | null, string[]] = await page(key, cursor, { match, count: STEPS })
      yield pairsOf(flat)
      cursor = next
    }
  }

  return {
    definitions: (queue: string) => tableAt(keys.workers(queue)).all(),
    definition: (queue: string, name: string) => tableAt(keys.workers(queue)).get(name),
    async ready(queue: string): Promise<Ready[]> {
      const rows = await ask<string[]>((redis) =>
        redis.zrange(`${keys.queue(queue)}:ready`, 0, 999, { withScores: true }),
      )
      return Array.from({ length: rows.length / 2 }, (_, ahead) => {
        const [member, priority] = [rows[2 * ahead]!, Number(rows[2 * ahead + 1])]
        return { queue, ahead, priority, since: member.slice(0, 13), id: Number(member.slice(14)) }
      })
    },
    queueNames: () => ask((redis) => redis.smembers(keys.queues)),
    limitNames: () => ask<string[]>((redis) => redis.smembers(keys.limits)),
    async aliasesLike(text: string, most: number): Promise<{ alias: string; id: string }[]> {
      const found: { alias: string; id: string }[] = []
      for await (const pairs of matching(keys.aliases, `${literal(text)}*`)) {
        for (const [alias, id] of pairs) found.push({ alias, id })
        if (found.length >= most) break
      }
      return found.sort((a, b) => a.alias.length - b.alias.length).slice(0, most)
    },
    async channels(
      cursor: string,
      count = CHANNELS,
    ): Promise<{ channels: Record<string, string>; cursor: string | null }> {
      const [next, flat] = await page(keys.channels, cursor, { count })
      return { channels: fieldsOf(flat), cursor: next }
    },
    async channelsLike(text: string): Promise<string[]> {
      const found: string[] = []
      for await (const pairs of matching(keys.channels, anyCase(text)))
        for (const [name, head] of pairs) if (Number.parseInt(head, 10) > 0) found.push(name)
      return found
    },
    async subscribers(channels: string[]): Promise<string[][]> {
      if (channels.length === 0) return []
      const audiences = await ask<(string | null)[]>((redis) => redis.mget(...channels.map(keys.audience)))
      let left = LISTENERS
      return Promise.all(
        audiences.map((audience, i) => {
          const listed = listedIn(audience)
          if (listed || left <= 0) return listed ?? []
          const most = Math.min(Number.parseInt(audience!, 10), MOST_OF_ONE, left)
          left -= most
          return ask<string[]>((redis) => redis.zrange(keys.channel(channels[i]!), 0, most - 1))
        }),
      )
    },
    keptChannels: () => ask<string[]>((redis) => redis.zrange(keys.messages, 0, -1)),
    async lastMessages(channels: string[]): Promise<(LastMessage | undefined)[]> {
      if (channels.length === 0) return []
      const texts = await ask<(string | null)[]>((redis) => redis.mget(...channels.map(keys.message)))
      return texts.map((text) => (text === null ? undefined : lastMessageOf(text, show.item)))
    },
    apiKeys: apiKeys.all,
    apiKey: apiKeys.get,
    removeApiKey: (id: string) => apiKeys.remove(id, usedField(id)),
    usedApiKey: (id: string, at: number) => apiKeys.set(usedField(id), String(at)),
    session: (hash: string) => ask<string | null>((redis) => redis.get(keys.session(hash))),
    addSession: (hash: string, text: string, life: number) =>
      ask((redis) => redis.set(keys.session(hash), text, { px: life })),
    removeSession: async (hash: string) => (await ask<number>((redis) => redis.del(keys.session(hash)))) === 1,
    async days(days: number[]): Promise<(Record<string, DayRecord> | null)[]> {
      const kept = await tableAt(keys.days).many(days.map(String))
      return kept.map((text) => (text === null ? null : (readable(() => decodeDay(text)) ?? null)))
    },
    tenants: {
      ...tenants,
      async set(name: string, about: string): Promise<number> {
        await ask((redis) => redis.zadd(keys.wake, { score: 0, member: THERE_ARE_TENANTS }))
        return tenants.set(name, about)
      },
    },
    async keysOfTenant(
      name: string,
      cursor: string,
    ): Promise<{ keys: string[]; cursor: string | null; looked: number }> {
      const match = `${literal(keys.ofTenant(name))}*`
      const [next, found] = await ask((redis) => redis.scan(cursor, { match, count: TENANT_KEYS }))
      return { keys: found, cursor: nextOf(next), looked: TENANT_KEYS }
    },
    async erase(names: readonly string[]): Promise<void> {
      if (names.length > 0) await ask((redis) => redis.unlink(...(names as string[])))
    },
    views: tableAt(keys.views),
    alerts: tableAt(keys.alerts),
    addAlert: async (key: string, text: string) => (await ask((redis) => redis.hsetnx(keys.alerts, key, text))) === 1,
    mutes: tableAt(keys.muted),
    sources: sources.get,
    /** Also deletes the oldest builds. The names of builds sort by age. */
    async keepSources(build: string, text: string): Promise<void> {
      const gone = (await sources.names())
        .filter((name) => name !== build)
        .sort()
        .slice(0, 1 - KEPT_BUILDS)
      await sources.remove(...gone)
      await sources.set(build, text)
    },
    forget: (lane: string) => ask<number>((redis) => redis.del(keys.lane(lane))),
    /** Newest first. */
    runs: async (id: number) =>
      (await ask<string[]>((redis) => redis.lrange(keys.runs(id), 0, -1))).map(show.error).reverse(),

    runBehind: async (id: number, behind: number) => {
      const text = await ask<string | null>((redis) => redis.lindex(keys.runs(id), -1 - behind))
      return text === null ? null : show.error(text)
    },

    /** An empty result means that the inputs were too large to store. */
    async keptInputs(id: number): Promise<Record<string, Encoded[]> | null> {
      const text = await ask<string | null>((redis) => redis.get(keys.inputs(id)))
      if (text === null) return null
      const of = readObject<{ of?: Record<string, string[]> }>(text)?.of ?? {}
      return mapValues(of, (items) => items.map((item) => itemOf(show.item(item)).data))
    },

    async steps(
      id: number,
      cursor: string,
    ): Promise<{ steps: Record<string, Encoded>; cursor: string | null; kept: Record<string, StepKept> }> {
      const [next, flat] = await page(keys.steps(id), cursor, { count: STEPS })
      const texts = pairsOf(flat)
      return {
        steps: Object.fromEntries(texts.map(([name, text]) => [name, open.value(text.replace(STEP, ''), 'step')])),
        kept: Object.fromEntries(texts.map(([name, text]) => [name, keptOf(text)])),
        cursor: next,
      }
    },
    async children(id: number, cursor: string): Promise<{ children: Record<string, Child>; cursor: string | null }> {
      const [next, flat] = await page(keys.children(id), cursor, { count: CHILDREN })
      return { children: childrenOf(flat), cursor: next }
    },
    graph: graphs.get,
    graphs: graphs.many,
    graphNames: graphs.names,
    flag: async (name: string) => (await ask<number>((redis) => redis.sismember(keys.flags, name))) === 1,
    async setFlag(name: string, on: boolean): Promise<void> {
      await ask((redis) => (on ? redis.sadd(keys.flags, name) : redis.srem(keys.flags, name)))
    },
    lastId: async () => Number((await ask<string | number | null>((redis) => redis.get(keys.lastId))) ?? 0),
  }
}

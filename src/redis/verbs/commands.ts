import type { Encoded } from '../../core/codec/value.ts'
import { mapValues } from '../../core/map-values.ts'
import { readObject, tryRead } from '../../core/readable.ts'
import { pairsOf } from '../flat.ts'
import { itemOf } from '../item.ts'
import { literal } from '../keys.ts'
import type { Parts } from '../parts.ts'
import { childrenOf, type DayRecord, decodeDay } from '../record.ts'
import { nextOf, tablesOf } from '../table.ts'
import type { Ready } from '../types.ts'
import { TENANTS_MEMBER } from './system-state.ts'

const STEPS = 2_000
const CHILDREN = 1_000

const usedField = (id: string): string => `used:${id}`

const TENANT_KEYS = 1_000

type StepKept = { at: number | null; ms: number | null; run: number | null }

const STEP = /^@(\d*),(\d*),(\d*)\n/

function keptOf(text: string): StepKept {
  const [at = null, ms = null, run = null] = (STEP.exec(text) ?? []).slice(1).map((n) => (n ? Number(n) : null))
  return { at, ms, run }
}

const KEPT_BUILDS = 5

export function createCommands(parts: Parts) {
  const { client, keys, vault } = parts
  const { ask } = client
  const { open, show } = vault
  const tableAt = tablesOf(parts)
  const [tenants, sources] = [tableAt(keys.tenants), tableAt(keys.sources)]
  const [apiKeys, graphs] = [tableAt(keys.apiKeys), tableAt(keys.flows)]

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
    async aliasesLike(text: string, most: number) {
      const found: { alias: string; id: string }[] = []
      for await (const pairs of tableAt(keys.aliases).matching(`${literal(text)}*`)) {
        for (const [alias, id] of pairs) found.push({ alias, id })
        if (found.length >= most) break
      }
      return found.sort((a, b) => a.alias.length - b.alias.length).slice(0, most)
    },
    apiKeys: apiKeys.all,
    apiKey: apiKeys.get,
    removeApiKey: (id: string) => apiKeys.remove(id, usedField(id)),
    usedApiKey: (id: string, at: number) => apiKeys.set(usedField(id), String(at)),
    session: (hash: string) => ask<string | null>((redis) => redis.get(keys.session(hash))),
    addSession: (hash: string, text: string, life: number) =>
      ask((redis) => redis.set(keys.session(hash), text, { px: life })),
    removeSession: (hash: string) => ask((redis) => redis.del(keys.session(hash))),
    /** Replaces `text` by a random text, so that a repeated command recognizes its own change. */
    async takeSession(hash: string, text: string): Promise<boolean> {
      const taken = crypto.randomUUID()
      const was = await ask((redis) => redis.set(keys.session(hash), taken, { xx: true, get: true, keepTtl: true }))
      return was === text || was === taken
    },
    async days(days: number[]): Promise<(Record<string, DayRecord> | null)[]> {
      const kept = await tableAt(keys.days).many(days.map(String))
      return kept.map((text) => (text === null ? null : (tryRead(() => decodeDay(text)) ?? null)))
    },
    tenants: {
      ...tenants,
      async set(name: string, about: string): Promise<number> {
        await ask((redis) => redis.zadd(keys.wake, { score: 0, member: TENANTS_MEMBER }))
        return tenants.set(name, about)
      },
    },
    async keysOfTenant(name: string, cursor: string) {
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

    async steps(id: number, cursor: string, { value } = open) {
      const [next, flat] = await tableAt(keys.steps(id)).page(cursor, { count: STEPS })
      const texts = pairsOf(flat)
      return {
        steps: Object.fromEntries(texts.map(([name, text]) => [name, value(text.replace(STEP, ''), 'step')])),
        kept: Object.fromEntries(texts.map(([name, text]) => [name, keptOf(text)])),
        cursor: next,
      }
    },
    async children(id: number, cursor: string) {
      const [next, flat] = await tableAt(keys.children(id)).page(cursor, { count: CHILDREN })
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

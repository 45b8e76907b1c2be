// What one command of Redis answers, without a script.

import type { Encoded } from '../../core/codec/value.ts'
import { isFull } from '../../core/errors.ts'
import type { Examined } from '../../core/examined.ts'
import { readable, readObject } from '../../core/readable.ts'
import { fieldsOf, pairsOf } from '../flat.ts'
import { itemOf, type LastMessage, lastMessageOf } from '../item.ts'
import type { Keys } from '../keys.ts'
import type { Parts } from '../parts.ts'
import { type DayRecord, decodeDay } from '../record.ts'
import type { BellTrouble, Ready } from '../types.ts'
import { processIn } from './looks.ts'

/** How many steps, and how many children, are looked through in one command. */
const STEPS = 2_000
const CHILDREN = 1_000
const ALIAS_PAGES = 5
/** Channels on a page. */
const CHANNELS = 1_000
/** Listeners that are named: of one channel, and of all on a page. */
const [MOST_OF_ONE, LISTENERS] = [1_000, 10_000]
/** How many acts of admins are remembered. */
const AUDITED = 10_000

const usedField = (id: string): string => `used:${id}`
/** So long what QStash has refused is told: 15 minutes. */
const TROUBLE = 900_000

/** The ports of an audience, as lib/port/audience.lua keeps it; undefined where they are too many to be named. */
function listedIn(audience: string | null): string[] | undefined {
  const [head = '0', ...ports] = (audience ?? '0').split(' ')
  return ports.length === Number.parseInt(head, 10) ? ports : undefined
}

/** That Redis has gone back to older data: how often, when it was noticed, and the ids that were given before and are lost. */
export type Restore = { times: number; noticedAt: number; lost: { from: number; to: number } }

function restoreOf(text: string | null): Restore | null {
  if (!text) return null
  const [times, noticedAt, from, to] = text.split(',').map(Number) as [number, number, number, number]
  return { times, noticedAt, lost: { from, to } }
}

/** A member next to the deployments: the database has tenants. */
const THERE_ARE_TENANTS = 'd:tenants'
/** Deployments, and behind them what is due first. */
const LOOKED_AT = 50

/** Sources of ticks. */
export type Heart = 'cron' | 'qstash'

/** How it stands with Redis, QStash and who wakes us; moments are null where there was none. */
export type HowItStands = {
  restored: Restore | null
  trouble: BellTrouble | null
  tickAt: number | null
  /** The source of that tick; undefined unless asked for. */
  tickBy?: Heart | null
  bellAt: number | null
  /** What the doctor has found. */
  examined: Examined | null
  /** Keys of records that could not be read. */
  unreadable: string[]
}

/** The texts that say how it stands. */
export const standingKeys = ({ epoch, bells, lastTick, lastBell, examined, unreadable }: Keys): string[] => [
  ...[epoch, bells, lastTick, lastBell, examined, unreadable],
]

/** A full Redis refuses XADD as the first write of a script, and accepts it after a write that needs no memory. */
const ADD_ALTHOUGH_FULL = `redis.call('DEL', KEYS[2])
return redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'e', ARGV[2])`

const examinedOf = (text: string | null | undefined): Examined | null => readObject<Examined>(text) ?? null

/** How it stands, by these texts. */
export const standingOf = ([went, trouble, tickAt, bellAt, found, unreadable, by]: readonly (
  | string
  | null
)[]): HowItStands => ({
  restored: restoreOf(went ?? null),
  trouble: readObject<BellTrouble>(trouble) ?? null,
  tickAt: tickAt ? Number(tickAt) : null,
  bellAt: bellAt ? Number(bellAt) : null,
  examined: examinedOf(found),
  unreadable: (unreadable ?? '').split('\n').flatMap((line) => line.split(/ (.*)/s)[1] ?? []),
  ...(by === undefined ? {} : { tickBy: by as Heart | null }),
})

/** What stands at the head of the index that ticks go by. */
export type Standing = { announced: string[]; hasTenants: boolean; isDue: boolean }

const standingIn = (members: string[]): Standing => {
  const head = members.filter((member) => member.startsWith('d:'))
  return {
    announced: head.map((member) => member.slice(2)),
    hasTenants: head.includes(THERE_ARE_TENANTS),
    isDue: head.length < members.length || members.length === LOOKED_AT,
  }
}

/** Time, duration and run of a stored step; null if the record has none. */
export type StepKept = { at: number | null; ms: number | null; run: number | null }

const STEP = /^@(\d*),(\d*),(\d*)\n/

function keptOf(text: string): StepKept {
  const [at = null, ms = null, run = null] = (STEP.exec(text) ?? []).slice(1).map((n) => (n ? Number(n) : null))
  return { at, ms, run }
}

const globText = (text: string): string => text.replace(/[*?[\]\\^-]/g, (c) => `\\${c}`)

/** A glob for names with a text in them, whatever its case. @example anyCase('a1') // '*[aA]1*' */
const anyCase = (text: string): string => {
  const letters = [...text].map((c) => {
    const [lower, upper] = [c.toLowerCase(), c.toUpperCase()]
    return lower === upper || lower.length > 1 || upper.length > 1 ? globText(c) : `[${lower}${upper}]`
  })
  return `*${letters.join('')}*`
}

/** Builds of which the places of their files are kept. */
const KEPT_BUILDS = 5

export function createCommands({ client: { ask }, keys, vault: { open, show } }: Parts) {
  /** A hash: a list in a transaction, an object by itself, nothing where there is none. */
  const hashOf = async (key: string): Promise<Record<string, string>> => {
    const found = await ask<unknown>((redis) => redis.hgetall(key))
    return Array.isArray(found) ? fieldsOf(found) : ((found ?? {}) as Record<string, string>)
  }

  return {
    /** class → definition as JSON text, with its sealed members. */
    definitions: (queue: string) => hashOf(keys.workers(queue)),
    /** The same for one class. */
    async definition(queue: string, name: string): Promise<string | null> {
      const text = await ask<unknown>((redis) => redis.hget(keys.workers(queue), name))
      return typeof text === 'string' ? text : null
    },
    /** The ready jobs of a queue in the order in which they are served, the first thousand. */
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
    /** Aliases that begin with a text, and whose they are: of the first ten thousand or so of very many. */
    async aliasesLike(text: string, most: number): Promise<{ alias: string; id: string }[]> {
      const match = `${globText(text)}*`
      const found: { alias: string; id: string }[] = []
      let cursor = '0'
      for (let page = 0; page < ALIAS_PAGES && found.length < most; page++) {
        const [next, flat] = await ask<[string, string[]]>(
          (redis) => redis.hscan(keys.aliases, cursor, { match, count: STEPS }) as Promise<[string, string[]]>,
        )
        for (const [alias, id] of pairsOf(flat)) found.push({ alias, id })
        cursor = String(next)
        if (cursor === '0') break
      }
      return found.sort((a, b) => a.alias.length - b.alias.length).slice(0, most)
    },
    /** A page of the channels: how many ports listen, and the id of the relay; the cursor of the last page is '0'. */
    async channels(cursor: string): Promise<{ channels: Record<string, string>; cursor: string }> {
      const [next, flat] = await ask<[string, string[]]>(
        (redis) => redis.hscan(keys.channels, cursor, { count: CHANNELS }) as Promise<[string, string[]]>,
      )
      return { channels: fieldsOf(flat), cursor: String(next) }
    },
    /** Channels in whose names a text stands, whatever its case: of the first ten thousand or so of very many. */
    async channelsLike(text: string): Promise<string[]> {
      const found: string[] = []
      let cursor = '0'
      for (let page = 0; page < ALIAS_PAGES; page++) {
        const [next, flat] = await ask<[string, string[]]>(
          (redis) =>
            redis.hscan(keys.channels, cursor, { match: anyCase(text), count: STEPS }) as Promise<[string, string[]]>,
        )
        for (const [name, head] of pairsOf(flat)) if (Number.parseInt(head, 10) > 0) found.push(name)
        cursor = String(next)
        if (cursor === '0') break
      }
      return found
    },
    /** Who listens to each of these channels, as id:port; of very many the first thousand, and so many of all together. */
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
    /** The channels whose last message is kept. */
    keptChannels: () => ask<string[]>((redis) => redis.zrange(keys.messages, 0, -1)),
    /** The last message of each of these channels, where it is kept. */
    async lastMessages(channels: string[]): Promise<(LastMessage | undefined)[]> {
      if (channels.length === 0) return []
      const texts = await ask<(string | null)[]>((redis) => redis.mget(...channels.map(keys.message)))
      return texts.map((text) => (text === null ? undefined : lastMessageOf(text, show.item)))
    },
    /** id → what is known of an API key, and `used:<id>` → when it was last used. */
    apiKeys: () => hashOf(keys.apiKeys),
    apiKey: (id: string) => ask<string | null>((redis) => redis.hget(keys.apiKeys, id)),
    removeApiKey: (id: string) => ask<number>((redis) => redis.hdel(keys.apiKeys, id, usedField(id))),
    usedApiKey: (id: string, at: number) => ask((redis) => redis.hset(keys.apiKeys, { [usedField(id)]: String(at) })),
    /** The hash of the key that a session is one of, with a 1 before it where it is good once. */
    session: (hash: string) => ask<string | null>((redis) => redis.get(keys.session(hash))),
    addSession: (hash: string, text: string, life: number) =>
      ask((redis) => redis.set(keys.session(hash), text, { px: life })),
    /** Answers whether it was there. */
    removeSession: async (hash: string) => (await ask<number>((redis) => redis.del(keys.session(hash)))) === 1,
    /** Writes down who asks for what; the oldest of very many go. */
    audit: (entry: string) =>
      ask<unknown>((redis) =>
        redis.xadd(keys.audit, '*', { e: entry }, { trim: { type: 'MAXLEN', comparison: '~', threshold: AUDITED } }),
      ).catch((error: unknown) => {
        if (!isFull(error)) throw error
        return ask<unknown>((redis) => redis.eval(ADD_ALTHOUGH_FULL, [keys.audit, keys.room], [String(AUDITED), entry]))
      }),
    readAudit: (before: string, count: number) =>
      ask<unknown>((redis) => redis.xrevrange(keys.audit, before, '-', count)),
    /** What was counted on each of these days: queue → counts and waits. */
    async days(days: number[]): Promise<(Record<string, DayRecord> | null)[]> {
      const kept = await ask<unknown>((redis) => redis.hmget(keys.days, ...days.map(String)))
      return ((kept as (string | null)[] | null) ?? []).map((text) =>
        text === null ? null : (readable(() => decodeDay(text)) ?? null),
      )
    },
    tenants: () => hashOf(keys.tenants),
    tenant: (name: string) => ask<string | null>((redis) => redis.hget(keys.tenants, name)),
    /** Answers whether it is new. That there are any stands where ticks look anyway. */
    async addTenant(name: string, about: string): Promise<boolean> {
      await ask((redis) => redis.zadd(keys.wake, { score: 0, member: THERE_ARE_TENANTS }))
      return (await ask<number>((redis) => redis.hsetnx(keys.tenants, name, about))) === 1
    },
    removeTenant: (name: string) => ask<number>((redis) => redis.hdel(keys.tenants, name)),
    views: () => hashOf(keys.views),
    setView: (name: string, text: string) => ask((redis) => redis.hset(keys.views, { [name]: text })),
    removeView: (name: string) => ask<number>((redis) => redis.hdel(keys.views, name)),
    /** Kind of errors → who has muted it, as JSON. */
    mutes: () => hashOf(keys.muted),
    setMute: (kind: string, text: string) => ask((redis) => redis.hset(keys.muted, { [kind]: text })),
    removeMutes: (kinds: readonly string[]) => ask<number>((redis) => redis.hdel(keys.muted, ...kinds)),
    /** Places of the files of a build, as JSON; null if they are not kept. */
    sources: (build: string) => ask<string | null>((redis) => redis.hget(keys.sources, build)),
    /** Keeps the places of a build, and of the four builds before it. Names of later builds sort behind earlier ones. */
    async keepSources(build: string, text: string): Promise<void> {
      const names = await ask<string[]>((redis) => redis.hkeys(keys.sources))
      const gone = names
        .filter((name) => name !== build)
        .sort()
        .slice(0, 1 - KEPT_BUILDS)
      if (gone.length > 0) await ask((redis) => redis.hdel(keys.sources, ...gone))
      await ask((redis) => redis.hset(keys.sources, { [build]: text }))
    },
    /** What a lane or the key of a claim was answered is known no more. */
    forget: (lane: string) => ask<number>((redis) => redis.del(keys.lane(lane))),
    /** The runs that a job has kept, newest first. */
    runs: async (id: number) =>
      (await ask<string[]>((redis) => redis.lrange(keys.runs(id), 0, -1))).map(show.error).reverse(),

    /** One of them, behind so many that are newer; null where it is not kept. */
    runBehind: async (id: number, behind: number) => {
      const text = await ask<string | null>((redis) => redis.lindex(keys.runs(id), -1 - behind))
      return text === null ? null : show.error(text)
    },

    /** What the last run that took from its inputs took there, by port; empty where that was too much to be kept. */
    async keptInputs(id: number): Promise<Record<string, Encoded[]> | null> {
      const text = await ask<string | null>((redis) => redis.get(keys.inputs(id)))
      if (text === null) return null
      const of = readObject<{ of?: Record<string, string[]> }>(text)?.of ?? {}
      const values = (items: string[]): Encoded[] => items.map((item) => itemOf(show.item(item)).data)
      return Object.fromEntries(Object.entries(of).map(([port, items]) => [port, values(items)]))
    },

    /** What steps have kept, a page of them; the cursor of the last is '0'. */
    async steps(
      id: number,
      cursor: string,
    ): Promise<{ steps: Record<string, Encoded>; cursor: string; kept: Record<string, StepKept> }> {
      const [next, flat] = await ask<[string, string[]]>(
        (redis) => redis.hscan(keys.steps(id), cursor, { count: STEPS }) as Promise<[string, string[]]>,
      )
      const texts = pairsOf(flat)
      return {
        steps: Object.fromEntries(
          texts.map(([name, text]) => [name, open.value(text.replace(STEP, ''), 'step') as Encoded]),
        ),
        kept: Object.fromEntries(texts.map(([name, text]) => [name, keptOf(text)])),
        cursor: String(next),
      }
    },
    /** A page of a job's children, flat; the cursor of the last is '0'. */
    async children(id: number, cursor: string): Promise<{ children: string[]; cursor: string }> {
      const [next, children] = await ask<[string, string[]]>(
        (redis) => redis.hscan(keys.children(id), cursor, { count: CHILDREN }) as Promise<[string, string[]]>,
      )
      return { children, cursor: String(next) }
    },
    graph: (name: string) => ask<string | null>((redis) => redis.hget(keys.flows, name)) as Promise<Encoded | null>,
    /** Graphs by their names, as they are asked for; null for one that there is not any more. */
    async graphs(names: string[]): Promise<(Encoded | null)[]> {
      const kept = await ask<unknown>((redis) => redis.hmget(keys.flows, ...names))
      return (kept as (Encoded | null)[] | null) ?? []
    },
    graphNames: () => ask<string[]>((redis) => redis.hkeys(keys.flows)),
    /** What a flow has done, newest first, and oldest first. */
    recordBack: (job: number, from: string, to: string, count: number) =>
      ask<unknown>((redis) => redis.xrevrange(keys.record(job), from, to, count)),
    recordOn: (job: number, from: string, to: string, count: number) =>
      ask<unknown>((redis) => redis.xrange(keys.record(job), from, to, count)),
    /** Entries of the log, newest first; of a job that keeps its history, those of its own. */
    readLog: (before: string, count: number, job?: number) =>
      ask<unknown>((redis) => redis.xrevrange(job === undefined ? keys.log : keys.jobLog(job), before, '-', count)),
    flag: async (name: string) => (await ask<number>((redis) => redis.sismember(keys.flags, name))) === 1,
    async setFlag(name: string, on: boolean): Promise<void> {
      await ask((redis) => (on ? redis.sadd(keys.flags, name) : redis.srem(keys.flags, name)))
    },
    /** The newest job's id. */
    lastId: async () => Number((await ask<string | number | null>((redis) => redis.get(keys.lastId))) ?? 0),
    /**
     * When Redis was last seen to have gone back to older data, and what QStash has refused of late, as some isolate has
     * told; when a tick and a bell came last; what the doctor has found. That it answers says that Redis can be reached.
     */
    async standing(): Promise<HowItStands> {
      return standingOf(await ask<(string | null)[]>((redis) => redis.mget(...standingKeys(keys), keys.lastHeart)))
    },
    /** What each deployment has announced last: its id and a hash. It is at the head of the index that ticks read anyway. */
    announced: async () => standingIn(await ask((redis) => redis.zrange(keys.wake, 0, 0, { byScore: true }))).announced,
    /**
     * Returns whether anything may be due at a moment, by a clock that need not be Redis', and all that a tick needs. `came`
     * notes a tick in the same request.
     */
    async standingAt(moment: number, came?: { at: number; by: Heart }): Promise<Standing> {
      const due = { byScore: true, offset: 0, count: LOOKED_AT } as const
      const read = async () => standingIn(await ask((redis) => redis.zrange(keys.wake, 0, moment, due)))
      if (came === undefined) return read()
      const both = ask((redis) =>
        redis
          .pipeline()
          .zrange(keys.wake, 0, moment, due)
          .mset({ [keys.lastTick]: String(came.at), [keys.lastHeart]: came.by })
          .exec<[string[], unknown]>(),
      )
      return both
        .then(([members]) => standingIn(members))
        .catch((error: unknown) => {
          if (!isFull(error)) throw error
          return read()
        })
    },
    /** When a program that asks for work under a name was last heard, by the queues that it asks. */
    async lastHeard(): Promise<Map<string, number>> {
      const heard = new Map<string, number>()
      for (const process of Object.values(await hashOf(keys.processes)).map(processIn))
        for (const queue of process.queues) heard.set(queue, Math.max(process.heard, heard.get(queue) ?? 0))
      return heard
    },
    /** What all deployments have announced, by their ids, as JSON. */
    deployments: () => hashOf(keys.deployed),
    async setDeployment(id: string, text: string, hash: string, before: readonly string[]): Promise<void> {
      await ask((redis) => redis.hset(keys.deployed, { [id]: text }))
      await ask((redis) => redis.zadd(keys.wake, { score: 0, member: `d:${id} ${hash}` }))
      if (before.length) await ask((redis) => redis.zrem(keys.wake, ...before.map((one) => `d:${one}`)))
    },
    /** The next isolates of these deployments announce their classes again. */
    async forgetAnnounced(ids: readonly string[]): Promise<void> {
      if (ids.length === 0) return
      const all = await ask<string[]>((redis) => redis.zrange(keys.wake, 0, 0, { byScore: true }))
      const gone = all.filter((member) => ids.some((id) => member.startsWith(`d:${id} `)))
      if (gone.length) await ask((redis) => redis.zrem(keys.wake, ...gone))
    },
    examined: async () => examinedOf(await ask<string | null>((redis) => redis.get(keys.examined))),
    setExamined: (found: Examined) => ask<unknown>((redis) => redis.set(keys.examined, JSON.stringify(found))),
    setBellTrouble: (trouble?: BellTrouble) =>
      ask<unknown>((redis) =>
        trouble ? redis.set(keys.bells, JSON.stringify(trouble), { px: TROUBLE }) : redis.del(keys.bells),
      ),
  }
}

import { hasCode } from '../../core/errors.ts'
import type { Examined } from '../../core/examined.ts'
import { readObject } from '../../core/readable.ts'
import type { Keys } from '../keys.ts'
import type { Parts } from '../parts.ts'
import { tablesOf } from '../table.ts'
import type { BellTrouble } from '../types.ts'
import { processIn } from './reads.ts'

const TROUBLE = 900_000

export const TENANTS_MEMBER = 'd:tenants'
const MAX_DUE = 50

export type Restore = { times: number; noticedAt: number; lost: { from: number; to: number } }

function restoreOf(text: string | null): Restore | null {
  if (!text) return null
  const [times, noticedAt, from, to] = text.split(',').map(Number) as [number, number, number, number]
  return { times, noticedAt, lost: { from, to } }
}

export type TickSource = 'cron' | 'qstash'

type SystemState = {
  restored: Restore | null
  trouble: BellTrouble | null
  tickAt: number | null
  tickBy?: TickSource | null
  bellAt: number | null
  examined: Examined | null
  unreadable: string[]
  outbox?: { bytes: number; seen: number }
}

export const stateKeys = ({ epoch, bells, lastTick, lastBell, examined, unreadable }: Keys): string[] => [
  epoch,
  bells,
  lastTick,
  lastBell,
  examined,
  unreadable,
]

const examinedOf = (text: string | null | undefined): Examined | null => readObject<Examined>(text) ?? null

function outboxOf(head: string | null | undefined): Pick<SystemState, 'outbox'> {
  const [, , bytes, seen] = (head ?? '').split(',').map(Number)
  return bytes === undefined || seen === undefined ? {} : { outbox: { bytes, seen } }
}

export const parseState = ([went, trouble, tickAt, bellAt, found, unreadable, by, outbox]: readonly (
  | string
  | null
)[]): SystemState => ({
  restored: restoreOf(went ?? null),
  trouble: readObject<BellTrouble>(trouble) ?? null,
  tickAt: tickAt ? Number(tickAt) : null,
  bellAt: bellAt ? Number(bellAt) : null,
  examined: examinedOf(found),
  unreadable: (unreadable ?? '').split('\n').flatMap((line) => line.split(/ (.*)/s)[1] ?? []),
  tickBy: by as TickSource | null,
  ...outboxOf(outbox),
})

type Due = { announced: string[]; hasTenants: boolean; isDue: boolean }

const parseDue = (members: string[]): Due => {
  const head = members.filter((member) => member.startsWith('d:'))
  return {
    announced: head.map((member) => member.slice(2)),
    hasTenants: head.includes(TENANTS_MEMBER),
    isDue: head.length < members.length || members.length === MAX_DUE,
  }
}

export function createSystemState(parts: Parts) {
  const { client, keys } = parts
  const { ask } = client
  const tableAt = tablesOf(parts)
  const [deployed, deploys] = [tableAt(keys.deployed), tableAt(keys.deploys)]
  return {
    async systemState(): Promise<SystemState> {
      return parseState(
        await ask<(string | null)[]>((redis) => redis.mget(...stateKeys(keys), keys.lastHeart, keys.outbox)),
      )
    },
    announced: async () => parseDue(await ask((redis) => redis.zrange(keys.wake, 0, 0, { byScore: true }))).announced,
    async dueAt(moment: number, tick?: { at: number; by: TickSource }): Promise<Due> {
      const due = { byScore: true, offset: 0, count: MAX_DUE } as const
      const read = async () => parseDue(await ask((redis) => redis.zrange(keys.wake, 0, moment, due)))
      if (tick === undefined) return read()
      const both = ask((redis) =>
        redis
          .pipeline()
          .zrange(keys.wake, 0, moment, due)
          .mset({ [keys.lastTick]: String(tick.at), [keys.lastHeart]: tick.by })
          .exec<[string[], unknown]>(),
      )
      return both
        .then(([members]) => parseDue(members))
        .catch((error: unknown) => {
          if (!hasCode(error, 'FULL')) throw error
          return read()
        })
    },
    async lastHeartbeats(): Promise<Map<string, number>> {
      const seen = new Map<string, number>()
      for (const process of Object.values(await tableAt(keys.processes).all()).map(processIn))
        for (const queue of process.queues) seen.set(queue, Math.max(process.seenAt, seen.get(queue) ?? 0))
      return seen
    },
    deployments: deployed.all,
    async setDeployment(id: string, text: string, hash: string, before: readonly string[]): Promise<void> {
      await deployed.set(id, text)
      await ask((redis) => redis.zadd(keys.wake, { score: 0, member: `d:${id} ${hash}` }))
      if (before.length) await ask((redis) => redis.zrem(keys.wake, ...before.map((one) => `d:${one}`)))
    },
    deploys: (id: string, times: readonly number[]) => deploys.many(times.map((at) => `${id} ${at}`)),
    async keepDeploy(id: string, at: number, text: string, expired: readonly number[]): Promise<void> {
      await deploys.set(`${id} ${at}`, text)
      await deploys.remove(...expired.map((time) => `${id} ${time}`))
    },
    versions: tableAt(keys.versions),
    async forgetAnnounced(ids: readonly string[]): Promise<void> {
      if (ids.length === 0) return
      const all = await ask<string[]>((redis) => redis.zrange(keys.wake, 0, 0, { byScore: true }))
      const expired = all.filter((member) => ids.some((id) => member.startsWith(`d:${id} `)))
      if (expired.length) await ask((redis) => redis.zrem(keys.wake, ...expired))
    },
    examined: async () => examinedOf(await ask<string | null>((redis) => redis.get(keys.examined))),
    setExamined: (found: Examined) => ask<unknown>((redis) => redis.set(keys.examined, JSON.stringify(found))),
    setBellTrouble: (trouble?: BellTrouble) =>
      ask<unknown>((redis) =>
        trouble ? redis.set(keys.bells, JSON.stringify(trouble), { px: TROUBLE }) : redis.del(keys.bells),
      ),
  }
}

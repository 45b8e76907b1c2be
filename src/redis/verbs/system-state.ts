import { hasCode } from '../../core/errors.ts'
import type { Examined } from '../../core/examined.ts'
import { readObject } from '../../core/readable.ts'
import type { Keys } from '../keys.ts'
import type { Parts } from '../parts.ts'
import { tablesOf } from '../table.ts'
import type { BellTrouble } from '../types.ts'
import { processIn } from './looks.ts'

const TROUBLE = 900_000

export const THERE_ARE_TENANTS = 'd:tenants'
const LOOKED_AT = 50

export type Restore = { times: number; noticedAt: number; lost: { from: number; to: number } }

function restoreOf(text: string | null): Restore | null {
  if (!text) return null
  const [times, noticedAt, from, to] = text.split(',').map(Number) as [number, number, number, number]
  return { times, noticedAt, lost: { from, to } }
}

export type Heart = 'cron' | 'qstash'

type HowItStands = {
  restored: Restore | null
  trouble: BellTrouble | null
  tickAt: number | null
  tickBy?: Heart | null
  bellAt: number | null
  examined: Examined | null
  unreadable: string[]
  outbox?: { bytes: number; seen: number }
}

export const standingKeys = ({ epoch, bells, lastTick, lastBell, examined, unreadable }: Keys): string[] => [
  epoch,
  bells,
  lastTick,
  lastBell,
  examined,
  unreadable,
]

const examinedOf = (text: string | null | undefined): Examined | null => readObject<Examined>(text) ?? null

function outboxOf(head: string | null | undefined): Pick<HowItStands, 'outbox'> {
  const [, , bytes, seen] = (head ?? '').split(',').map(Number)
  return bytes === undefined || seen === undefined ? {} : { outbox: { bytes, seen } }
}

export const standingOf = ([went, trouble, tickAt, bellAt, found, unreadable, by, outbox]: readonly (
  | string
  | null
)[]): HowItStands => ({
  restored: restoreOf(went ?? null),
  trouble: readObject<BellTrouble>(trouble) ?? null,
  tickAt: tickAt ? Number(tickAt) : null,
  bellAt: bellAt ? Number(bellAt) : null,
  examined: examinedOf(found),
  unreadable: (unreadable ?? '').split('\n').flatMap((line) => line.split(/ (.*)/s)[1] ?? []),
  tickBy: by as Heart | null,
  ...outboxOf(outbox),
})

type Standing = { announced: string[]; hasTenants: boolean; isDue: boolean }

const standingIn = (members: string[]): Standing => {
  const head = members.filter((member) => member.startsWith('d:'))
  return {
    announced: head.map((member) => member.slice(2)),
    hasTenants: head.includes(THERE_ARE_TENANTS),
    isDue: head.length < members.length || members.length === LOOKED_AT,
  }
}

export function createStanding(parts: Parts) {
  const { client, keys } = parts
  const { ask } = client
  const tableAt = tablesOf(parts)
  const [deployed, deploys] = [tableAt(keys.deployed), tableAt(keys.deploys)]
  return {
    async standing(): Promise<HowItStands> {
      return standingOf(
        await ask<(string | null)[]>((redis) => redis.mget(...standingKeys(keys), keys.lastHeart, keys.outbox)),
      )
    },
    announced: async () => standingIn(await ask((redis) => redis.zrange(keys.wake, 0, 0, { byScore: true }))).announced,
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
          if (!hasCode(error, 'FULL')) throw error
          return read()
        })
    },
    async lastHeard(): Promise<Map<string, number>> {
      const heard = new Map<string, number>()
      for (const process of Object.values(await tableAt(keys.processes).all()).map(processIn))
        for (const queue of process.queues) heard.set(queue, Math.max(process.heard, heard.get(queue) ?? 0))
      return heard
    },
    deployments: deployed.all,
    async setDeployment(id: string, text: string, hash: string, before: readonly string[]): Promise<void> {
      await deployed.set(id, text)
      await ask((redis) => redis.zadd(keys.wake, { score: 0, member: `d:${id} ${hash}` }))
      if (before.length) await ask((redis) => redis.zrem(keys.wake, ...before.map((one) => `d:${one}`)))
    },
    deploys: (id: string, times: readonly number[]) => deploys.many(times.map((at) => `${id} ${at}`)),
    async keepDeploy(id: string, at: number, text: string, gone: readonly number[]): Promise<void> {
      await deploys.set(`${id} ${at}`, text)
      await deploys.remove(...gone.map((time) => `${id} ${time}`))
    },
    versions: tableAt(keys.versions),
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

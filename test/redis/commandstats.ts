import type { Gateway } from '../../infra/stand-ins/gateway.ts'
import type { Qstash } from '../../infra/stand-ins/qstash.ts'
import { type Address, connect, text } from '../../infra/stand-ins/resp.ts'

export type Cost = {
  /** HTTP requests to Redis. */
  calls: number
  /** Number of billed commands, including EVALSHA and the commands in its script. */
  billed: number
  messages: number
  commands: Record<string, number>
}

export type Counts = { requests: number; published: number; pending: number }

type Counted = {
  redis: Address
  until: (fact: () => Promise<boolean>) => Promise<void>
  counts: () => Counts | Promise<Counts>
}

/** Throws with the embedded Redis, which counts no commands: every test would pass. */
export async function commandStats({ redis }: Pick<Counted, 'redis'>): Promise<Map<string, number>> {
  const connection = await connect(redis)
  const info = text(await connection.call('INFO', 'commandstats'))
  await connection.close()
  const rows = [...info.matchAll(/^cmdstat_(\S+):calls=(\d+)/gm)].filter(([, name]) => name !== 'info')
  if (!rows.length) throw new Error('expected a Redis that counts its commands, got one without commandstats')
  return new Map(rows.map(([, name, calls]) => [name!, Number(calls)]))
}

export const countsOf = (gateway: Gateway, { counts }: Qstash): Counts => ({
  requests: gateway.counters.requests,
  published: counts.published,
  pending: counts.published + counts.scheduled - counts.delivered - counts.failed,
})

export const isQuiet = async ({ counts }: Pick<Counted, 'counts'>): Promise<boolean> => (await counts()).pending <= 0

export async function costOf(kit: Counted, work: () => Promise<unknown>): Promise<Cost> {
  const before = await commandStats(kit)
  const { requests, published } = await kit.counts()
  await work()
  await kit.until(() => isQuiet(kit))
  const after = await commandStats(kit)
  const counts = await kit.counts()
  const grown = [...after].map(([name, calls]) => [name, calls - (before.get(name) ?? 0)] as const)
  const commands = Object.fromEntries(grown.filter(([, n]) => n > 0))
  return {
    calls: counts.requests - requests,
    billed: Object.values(commands).reduce((sum, n) => sum + n, 0),
    messages: counts.published - published,
    commands,
  }
}

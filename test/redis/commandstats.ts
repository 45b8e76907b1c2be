// Cost of work: commands counted by Redis, including those in scripts, requests to the gateway, and messages to QStash.

import type { Gateway } from '../../infra/stand-ins/gateway.ts'
import type { Qstash } from '../../infra/stand-ins/qstash.ts'
import { type Address, connect, text } from '../../infra/stand-ins/resp.ts'

export type Cost = {
  /** Round trips: requests over HTTP. */
  calls: number
  /** Billed commands: every command, including EVALSHA and the commands in its script. */
  billed: number
  /** Messages to QStash. */
  messages: number
  /** Command → count, to explain a number. */
  commands: Record<string, number>
}

/** Requests that came to the gateway; messages that QStash took, and how many of them have not come to their end. */
export type Counts = { requests: number; published: number; pending: number }

/** Counted in this process, or told by the one where the stack runs. */
type Counted = {
  redis: Address
  until: (fact: () => Promise<boolean>) => Promise<void>
  counts: () => Counts | Promise<Counts>
}

/**
 * Command → calls since the server began, by its own count. Our own question is not counted. Throws without counts, as
 * with the embedded Redis: otherwise each bound would hold.
 */
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

/** Returns whether all messages have ended. */
export const isQuiet = async ({ counts }: Pick<Counted, 'counts'>): Promise<boolean> => (await counts()).pending <= 0

/**
 * Does the work, waits for the answers to all its bells, and returns the total cost.
 *
 * @example const { calls, billed } = await costOf(kit, () => kit.engine.enqueue(jobs))
 */
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

// What a piece of work costs: the commands that Redis itself has counted, those inside of scripts too, the requests
// that reached the gateway, and the messages that QStash took.

import { connect, text } from '../../infra/resp.ts'
import type { Kit } from '../kit.ts'

export type Cost = {
  /** Round trips: requests over HTTP. */
  calls: number
  /** What the vendor bills: every command, the EVALSHA of a script and those inside of it. */
  billed: number
  /** What QStash was asked to deliver. */
  messages: number
  /** Command → how often, for whoever wonders where a number comes from. */
  commands: Record<string, number>
}

type Counted = Pick<Kit, 'redis' | 'gateway' | 'qstash' | 'until'>

/** Command → calls since the server began, by its own count. Our own question is on nobody's path. */
async function commandStats({ redis }: Counted): Promise<Map<string, number>> {
  const connection = await connect(redis)
  const info = text(await connection.call('INFO', 'commandstats'))
  await connection.close()
  const rows = [...info.matchAll(/^cmdstat_(\S+):calls=(\d+)/gm)].filter(([, name]) => name !== 'info')
  return new Map(rows.map(([, name, calls]) => [name!, Number(calls)]))
}

/** Whether every message has come to its end. */
export const isQuiet = ({ counts }: Counted['qstash']): boolean =>
  counts.delivered + counts.failed + counts.cancelled >= counts.published + counts.scheduled + counts.callbacks

/**
 * Does the work, waits until every bell that it rang has been answered, and says what all of it cost.
 *
 * @example const { calls, billed } = await costOf(kit, () => kit.engine.enqueue(jobs))
 */
export async function costOf(kit: Counted, work: () => Promise<unknown>): Promise<Cost> {
  const { gateway, qstash } = kit
  const before = await commandStats(kit)
  const [requests, published] = [gateway.counters.requests, qstash.counts.published]
  await work()
  await kit.until(() => isQuiet(qstash))
  const after = await commandStats(kit)
  const grown = [...after].map(([name, calls]) => [name, calls - (before.get(name) ?? 0)] as const)
  const commands = Object.fromEntries(grown.filter(([, n]) => n > 0))
  return {
    calls: gateway.counters.requests - requests,
    billed: Object.values(commands).reduce((sum, n) => sum + n, 0),
    messages: qstash.counts.published - published,
    commands,
  }
}

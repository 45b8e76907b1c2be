import { counted } from '../../core/counted.ts'
import type { Row } from '../answers.ts'
import type { Parts } from '../parts.ts'
import { repairs } from '../repairs.ts'
import * as scripts from '../scripts.generated.ts'
import type { BreakerSettings, BreakerState, Fault, Ring } from '../types.ts'

/** Checking this many jobs blocks Redis for only a few milliseconds. */
const VERIFIED_AT_ONCE = 50
const PHASES = 10

/** @example worded({ what: 'has %s {run}', values: ['1'] }) // 'has 1 run' */
function worded({ what, values }: Pick<Row<'found'>, 'what' | 'values'>): string {
  let at = 0
  return what.replace(/%s(?: \{(.*?)(?:\|(.*?))?\})?/g, (_, one?: string, many?: string) => {
    const value = values[at++]!
    return one === undefined ? value : counted(Number(value), one, many)
  })
}

export function createUpkeep({ client: { ask }, keys, call }: Parts) {
  /** The last digit of a position is its phase. */
  async function verify(position = PHASES, size = VERIFIED_AT_ONCE) {
    const args = { phase: position % PHASES, from: Math.floor(position / PHASES), size }
    const { faults, phase, from, seen } = await call(scripts.verify, args)
    const named = faults.map(
      ({ kind, who, remedy, ...words }) => ({ kind, who, what: worded(words), remedy: repairs[remedy]! }) as Fault,
    )
    return { faults: named, next: phase === undefined ? null : from * PHASES + Number(phase), seen }
  }

  async function repair(targets: readonly { kind: Fault['kind'] | 'erase'; who: string }[]): Promise<Ring[]> {
    const rest = [String(targets.length), ...targets.flatMap(({ kind, who }) => [kind, who])]
    return (await call(scripts.repair, {}, { rest })).rings
  }

  async function breaker(
    host: string,
    word: 'ask' | 'failed' | 'probe failed' | 'succeeded',
    settings: BreakerSettings & { floor?: number },
  ): Promise<BreakerState> {
    const { is: _, ...state } = await call(
      scripts.breaker,
      { floor: 0, ...settings, host, word },
      { keys: [keys.breaker(host)] },
    )
    return state
  }

  async function openBreakers(most: number) {
    const hosts = await ask<string[]>((redis) => redis.zrange(keys.breakers, 0, most - 1, { rev: true }))
    if (hosts.length === 0) return []
    const records = await ask<(string | null)[]>((redis) => redis.mget(...hosts.map(keys.breaker)))
    return hosts.flatMap((host, i) => {
      const [failures, until] = (records[i] ?? '').split(',').map(Number.parseFloat)
      return failures && until !== undefined ? [{ host, failures, until }] : []
    })
  }

  return { verify, repair, breaker, openBreakers }
}

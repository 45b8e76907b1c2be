import { counted } from '../../core/counted.ts'
import { answerOf, type Row } from '../answers.ts'
import { type Parts, ringsOf } from '../parts.ts'
import { repairs } from '../repairs.ts'
import * as scripts from '../scripts.generated.ts'
import type { BreakerSettings, BreakerState, Fault, Ring } from '../types.ts'

/** Checking this many jobs blocks Redis for only a few milliseconds. */
const VERIFIED_AT_ONCE = 50
const PHASES = 10
const FIRST_POSITION = PHASES

/** @example worded({ what: 'has %s {run|runs}', values: ['1'] }) // 'has 1 run' */
function worded({ what, values }: Pick<Row<'found'>, 'what' | 'values'>): string {
  let at = 0
  return what.replace(/%s(?: \{(.*?)\|(.*?)\})?/g, (_, one?: string, many?: string) => {
    const value = values[at++]!
    return one === undefined ? value : counted(Number(value), one, many)
  })
}

export function createUpkeep({ client: { evaluate, ask }, keys, base }: Parts) {
  /** The last digit of a position is its phase. */
  async function verify(position = FIRST_POSITION, size = VERIFIED_AT_ONCE) {
    const args = { ...base(), phase: position % PHASES, from: Math.floor(position / PHASES), size }
    const { faults, phase, from, seen } = answerOf(await evaluate(scripts.verify, [], args, []), 'verified')
    const named = faults.map(
      ({ kind, who, remedy, ...words }) => ({ kind, who, what: worded(words), remedy: repairs[remedy]! }) as Fault,
    )
    return { faults: named, next: phase === undefined ? null : from * PHASES + Number(phase), seen }
  }

  async function repair(targets: readonly { kind: Fault['kind'] | 'erase'; who: string }[]): Promise<Ring[]> {
    const rest = [String(targets.length), ...targets.flatMap(({ kind, who }) => [kind, who])]
    return ringsOf(answerOf(await evaluate(scripts.repair, [], base(), rest), 'repaired').rings)
  }

  async function breaker(
    host: string,
    word: 'ask' | 'failed' | 'probe failed' | 'succeeded',
    settings: BreakerSettings & { floor?: number },
  ): Promise<BreakerState> {
    const raw = await evaluate(
      scripts.breaker,
      [keys.breaker(host)],
      { floor: 0, ...settings, ...base(), host, word },
      [],
    )
    const { state, failures, till } = answerOf(raw, 'breaker')
    return { state: state as BreakerState['state'], failures, until: till }
  }

  async function openBreakers(most: number): Promise<{ host: string; failures: number; until: number }[]> {
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

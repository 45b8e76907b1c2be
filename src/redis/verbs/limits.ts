// Limits, and the constraints that put jobs under them.

import { type Parts, type RawRing, refusalOf, ringsOf } from '../parts.ts'
import * as scripts from '../scripts.generated.ts'
import type { Ring } from '../types.ts'

export function createLimits({ client: { evaluate, ask }, keys, base }: Parts) {
  type LimitRow = {
    key: string
    concurrency: number | null
    rate: { limit: number; period: number } | null
    paused: boolean
    running: number
    waiting: number
    ready: number
    jobs: number | null
  }

  /** The limits there are, or one. */
  async function limits(key = ''): Promise<LimitRow[]> {
    const [, rows] = (await evaluate(scripts.limits, [], { ...base(), key }, [])) as [string, string[][]]
    return rows.map(([name, json, held, waiting]) => {
      const doc = JSON.parse(json!) as { c?: number; r?: number; p?: number; paused?: number; a?: number; j?: number }
      return {
        key: name!,
        concurrency: doc.c ?? null,
        rate: doc.r === undefined ? null : { limit: doc.r, period: doc.p! },
        paused: doc.paused === 1,
        running: Number(held),
        waiting: Number(waiting),
        ready: doc.a ?? 0,
        jobs: doc.j ?? null,
      }
    })
  }

  type LimitSettings = {
    concurrency?: number | null
    rate?: { limit: number; period: number } | null
    paused?: boolean
    /** Of `shut`: nobody is let through before. */
    until?: number
  }

  /** null removes a setting, undefined leaves it. */
  async function limit(
    key: string,
    act: 'set' | 'change' | 'shut' | 'remove',
    settings: LimitSettings = {},
  ): Promise<Ring[]> {
    const word = (value: number | null | undefined) => (value === undefined ? '' : value === null ? '-' : String(value))
    const { concurrency, rate, paused, until } = settings
    const answer = (await evaluate(
      scripts.limit,
      [keys.limit(key), keys.schema],
      {
        ...base(),
        key,
        act,
        concurrency: word(concurrency),
        rate: word(rate?.limit ?? (rate as null | undefined)),
        period: word(rate?.period ?? (rate as null | undefined)),
        paused: paused === undefined ? '' : paused ? '1' : '0',
        till: word(until),
      },
      [],
    )) as [string, ...never[]]
    if (answer[0] === 'refused') throw refusalOf(answer[1]!, answer[2]!)
    return ringsOf(answer[1] as unknown as RawRing[])
  }

  /** The constraints there are, as text; setting one, or removing it with null, answers them too. */
  async function constraint(name: string, definition: string | null): Promise<{ text: string; rings: Ring[] }> {
    const answer = (await evaluate(
      scripts.constraint,
      [keys.constraints, keys.hints, keys.schema],
      { ...base(), name, definition: definition ?? '' },
      [],
    )) as [string, ...never[]]
    if (answer[0] === 'refused') throw refusalOf(answer[1]!, answer[2]!)
    return { text: answer[1]!, rings: ringsOf(answer[2] as unknown as RawRing[]) }
  }

  return {
    limits,
    limit,
    constraint,
    constraints: () => ask<string | null>((redis) => redis.get(keys.constraints)),
  }
}

import type { Row } from '../answers.ts'
import type { Parts } from '../parts.ts'
import * as scripts from '../scripts.generated.ts'
import type { Ring, Room } from '../types.ts'

export const limitRow = ({ settings, ...row }: Row<'limit'>) => ({ ...settings, ...row })

type Found = ReturnType<typeof limitRow>

const [SLICE, MOST_LIMITS] = [500, 10_000]

export function createLimits({ client: { ask }, keys, call }: Parts) {
  async function limits(key = '', most = MOST_LIMITS, starts = 0): Promise<Found[]> {
    const found = new Map<string, Found>()
    for (let cursor = '0'; cursor !== '' && found.size < most; ) {
      const page = await call(scripts.limits, { key, cursor, most: Math.min(most, SLICE), most_starts: starts })
      for (const row of page.limits.map(limitRow)) found.set(row.key, row)
      cursor = page.cursor
    }
    return [...found.values()]
  }

  async function room(key: string, most: { holders: number; waiting: number }): Promise<Room | undefined> {
    const found = await call(scripts.room, { key, most_holders: most.holders, most_waiting: most.waiting })
    return found.is === 'none' ? undefined : found
  }

  type LimitSettings = {
    concurrency?: number | null
    rate?: { limit: number; period: number } | null
    paused?: boolean
    until?: number
  }

  /** `null` removes a setting. */
  async function limit(
    key: string,
    act: 'set' | 'change' | 'shut' | 'remove',
    settings: LimitSettings = {},
  ): Promise<Ring[]> {
    const word = (value: number | null | undefined) => (value === undefined ? '' : value === null ? '-' : String(value))
    const { concurrency, rate, paused, until } = settings
    const args = {
      key,
      act,
      concurrency: word(concurrency),
      rate: word(rate?.limit ?? (rate as null | undefined)),
      period: word(rate?.period ?? (rate as null | undefined)),
      paused: paused === undefined ? '' : paused ? '1' : '0',
      till: word(until),
    }
    return (await call(scripts.limit, args, { keys: [keys.limit(key), keys.schema] })).rings
  }

  async function constraint(name: string, definition: string | null) {
    const declared = [keys.constraints, keys.hints, keys.outbox, keys.schema]
    return call(scripts.constraint, { name, definition: definition ?? '' }, { keys: declared })
  }

  return {
    limits,
    room,
    startedSince: (key: string, moment: number) =>
      ask<number>((redis) => redis.zcount(keys.limitWindow(key), `(${moment}`, '+inf')),
    limit,
    constraint,
    constraints: () => ask<string | null>((redis) => redis.get(keys.constraints)),
  }
}

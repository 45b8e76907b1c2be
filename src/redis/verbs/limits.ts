import { answerOf, type Row } from '../answers.ts'
import { granted, type Parts, ringsOf } from '../parts.ts'
import { decodeLimit } from '../record.ts'
import * as scripts from '../scripts.generated.ts'
import type { KeptLimit, Ring, Room } from '../types.ts'

export function limitSettingsOf(text: string): KeptLimit {
  const { concurrency, rate, period, paused, shut, promised, jobs } = decodeLimit(text)
  return {
    concurrency: concurrency ?? null,
    rate: rate === undefined ? null : { limit: rate, period: period! },
    paused: paused === 1,
    shutUntil: shut ?? null,
    reserved: promised ?? 0,
    jobs: jobs ?? null,
  }
}

type Found = KeptLimit & {
  key: string
  running: number
  waiting: number
  fullSince: number | null
  started: number
  starts: number[]
}

export function limitRow({ key, document, held, waiting, since, started, starts }: Row<'limit'>): Found {
  return {
    ...limitSettingsOf(document),
    key,
    running: held,
    waiting,
    fullSince: since ?? null,
    started,
    starts: starts.map(Number),
  }
}

const [SLICE, MOST_LIMITS] = [500, 10_000]

export function createLimits({ client: { evaluate, ask }, keys, base }: Parts) {
  async function limits(key = '', most = MOST_LIMITS, starts = 0): Promise<Found[]> {
    const found = new Map<string, Found>()
    for (let cursor = '0'; cursor !== '' && found.size < most; ) {
      const args = { ...base(), key, cursor, most: Math.min(most, SLICE), most_starts: starts }
      const page = answerOf(await evaluate(scripts.limits, [], args, []), 'limits')
      for (const row of page.limits.map(limitRow)) found.set(row.key, row)
      cursor = page.cursor
    }
    return [...found.values()]
  }

  async function room(key: string, most: { holders: number; waiting: number }): Promise<Room | undefined> {
    const args = { ...base(), key, most_holders: most.holders, most_waiting: most.waiting }
    const found = answerOf(await evaluate(scripts.room, [], args, []), 'room', 'none')
    if (found.is === 'none') return undefined
    const { held, started, waiting, nextRoom = null, now } = found
    return {
      settings: limitSettingsOf(found.document),
      running: held,
      started,
      waiting,
      nextRoom,
      now,
      holders: found.holders.map(({ group = null, ranAt = null, process = null, ...one }) => ({
        ...one,
        group,
        startedAt: ranAt,
        process,
      })),
      line: found.line.map(({ group = null, ...one }) => ({ ...one, group })),
    }
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
    const raw = await evaluate(
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
    )
    return ringsOf(granted(answerOf(raw, 'set', 'refused')).rings)
  }

  async function constraint(name: string, definition: string | null): Promise<{ text: string; rings: Ring[] }> {
    const raw = await evaluate(
      scripts.constraint,
      [keys.constraints, keys.hints, keys.outbox, keys.schema],
      { ...base(), name, definition: definition ?? '' },
      [],
    )
    const { constraints: text, rings } = granted(answerOf(raw, 'set', 'refused'))
    return { text, rings: ringsOf(rings) }
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

// Limits, and the constraints that put jobs under them.

import { type Parts, type RawRing, refusalOf, ringsOf } from '../parts.ts'
import { decodeLimit } from '../record.ts'
import * as scripts from '../scripts.generated.ts'
import type { KeptLimit, Ring, Room } from '../types.ts'

/** A limit's record as Redis has it. */
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

/** Limits that are looked at at once, and in all. */
const [SLICE, MOST_LIMITS] = [500, 10_000]

export function createLimits({ client: { evaluate, ask }, keys, base }: Parts) {
  type LimitRow = {
    key: string
    concurrency: number | null
    rate: { limit: number; period: number } | null
    paused: boolean
    shutUntil: number | null
    running: number
    waiting: number
    ready: number
    jobs: number | null
  }

  /** The limits there are, up to so many or a few more, or one; looked at in slices, since a caller's groups are among them. */
  async function limits(key = '', most = MOST_LIMITS): Promise<LimitRow[]> {
    const found = new Map<string, LimitRow>()
    for (let cursor = '0'; cursor !== '' && found.size < most; ) {
      const args = { ...base(), key, cursor, most: Math.min(most, SLICE) }
      const [, rows, next] = (await evaluate(scripts.limits, [], args, [])) as [string, string[][], string]
      for (const row of limitRows(rows)) found.set(row.key, row)
      cursor = next
    }
    return [...found.values()]
  }

  const limitRows = (rows: string[][]): LimitRow[] =>
    rows.map(([name, json, held, waiting]) => {
      const { concurrency, rate, paused, shutUntil, reserved, jobs } = limitSettingsOf(json!)
      return {
        ...{ key: name!, concurrency, rate, paused, shutUntil, jobs },
        running: Number(held),
        waiting: Number(waiting),
        ready: reserved,
      }
    })

  /** One limit from near, with so many of those who hold its slots and of those who wait; undefined where there is none. */
  async function room(key: string, most: { holders: number; waiting: number }): Promise<Room | undefined> {
    const args = { ...base(), key, most_holders: most.holders, most_waiting: most.waiting }
    const answer = (await evaluate(scripts.room, [], args, [])) as
      | ['none']
      | [string, string, string, string, string, string, string, string[][], string[][]]
    if (answer.length === 1) return undefined
    const [, text, running, started, waiting, free, now, holders, line] = answer
    return {
      settings: limitSettingsOf(text),
      running: Number(running),
      started: Number(started),
      waiting: Number(waiting),
      nextRoom: free === '' ? null : Number(free),
      now: Number(now),
      holders: holders.map(([job, leaseUntil, queue, name, group, ranAt, process]) => ({
        ...{ job: Number(job), queue: queue!, class: name!, group: group || null },
        ...{ startedAt: ranAt ? Number(ranAt) : null, leaseUntil: Number(leaseUntil), process: process || null },
      })),
      line: line.map(([job, queue, name, group, priority, since]) => ({
        ...{ job: Number(job), queue: queue!, class: name!, group: group || null },
        ...{ priority: Number(priority), since: Number(since) },
      })),
    }
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
    room,
    limit,
    constraint,
    constraints: () => ask<string | null>((redis) => redis.get(keys.constraints)),
  }
}

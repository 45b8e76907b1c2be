// Queues: their settings and classes, how they stand, and the sweep over all of them.

import { listWords, type Parts, type RawRing, ringsOf } from '../parts.ts'
import { decodeQueue } from '../record.ts'
import * as scripts from '../scripts.generated.ts'
import type { NearQueue, QueueRow, Ring } from '../types.ts'

type QueuePatch = {
  lanes?: number
  batch?: number
  paused?: boolean
  mode?: 'push' | 'pull'
  /** In milliseconds; null: none. */
  ageing?: number | null
}

export function createQueues({ client: { evaluate }, keys, base }: Parts) {
  async function tick(limit = 100): Promise<{ rings: Ring[]; more: boolean }> {
    const [, rings, more] = (await evaluate(scripts.tick, [keys.wake], { ...base(), most: limit }, [])) as [
      string,
      RawRing[],
      string,
    ]
    return { rings: ringsOf(rings), more: more === 'more' }
  }

  async function overview(queue = ''): Promise<{ queues: QueueRow[]; now: number }> {
    const [, rows, now] = (await evaluate(scripts.overview, [], { ...base(), queue_name: queue }, [])) as [
      string,
      string[][],
      string,
    ]
    const queues = rows.map(([name, text, ...numbers]) => {
      const [lanes, ready, pull, timers, leases, suspended, completed, failed, terminated] = numbers.map(Number)
      const oldest = numbers[9] ? Math.floor(Number.parseInt(numbers[9].slice(0, 13), 16) / 1000) : null
      return {
        name: name!,
        settings: decodeQueue(text!),
        ...{ lanes, ready, pull, timers, leases, suspended, completed, failed, terminated },
        oldest,
      } as QueueRow
    })
    return { queues, now: Number(now) }
  }

  /** One queue from near, with so many of each kind; undefined where there is none. */
  async function near(queue: string, most: number): Promise<NearQueue | undefined> {
    const answer = (await evaluate(scripts.queue, [], { ...base(), queue_name: queue, most }, [])) as
      | ['none']
      | [string, string, string[][], string[][], string[][], string[][], string]
    if (answer.length === 1) return undefined
    const [, , lanes, runs, claims, line] = answer
    return {
      lanes: lanes.map(([lane, until]) => ({ lane: lane!, until: Number(until) })),
      runs: runs.map(([job, name, token, startedAt, leaseUntil, process]) => ({
        ...{ job: Number(job), class: name!, token: token!, process: process || null },
        ...{ startedAt: Number(startedAt), leaseUntil: Number(leaseUntil) },
      })),
      claims: claims.map(([id, until, names]) => ({
        ...{ id: id!, until: Number(until) },
        names: names === '' ? [] : names!.split('\n'),
      })),
      next: line.map(([job, name, priority, since, group, pull]) => ({
        ...{ job: Number(job), class: name!, priority: Number(priority), since: Number(since) },
        ...{ group: group || null, pull: pull !== '' },
      })),
    }
  }

  async function settings(
    queue: string,
    { lanes, batch, paused, mode, ageing }: QueuePatch,
    { unban = false, ban = [] }: { unban?: boolean; ban?: string[] } = {},
  ): Promise<Ring[]> {
    const [, rings] = (await evaluate(
      scripts.settings,
      [keys.queue(queue)],
      {
        ...base(),
        queue_name: queue,
        lanes: lanes === undefined ? '' : String(lanes),
        batch: batch === undefined ? '' : String(batch),
        paused: paused === undefined ? '' : paused ? '1' : '0',
        mode: mode ?? '',
        ageing: ageing === undefined ? '' : String(ageing ?? 0),
        unban: unban ? '1' : '',
      },
      listWords(ban),
    )) as [string, RawRing[]]
    return ringsOf(rings)
  }

  /** Writes definitions (null removes). `whole`: the local classes among them are all there are. */
  async function register(
    queue: string,
    classes: { name: string; definition: string | null; serves: 'pull' | 'call' | 'push'; concurrency?: number }[],
    { whole = false }: { whole?: boolean } = {},
  ): Promise<{ rings: Ring[]; changed: boolean }> {
    const rest = classes.flatMap(({ name, definition, serves, concurrency }) => [
      name,
      definition ?? '',
      serves,
      String(concurrency ?? ''),
    ])
    const [, rings, changed] = (await evaluate(
      scripts.register,
      [keys.queue(queue)],
      { ...base(), queue_name: queue, whole: whole ? '1' : '' },
      [String(classes.length), ...rest],
    )) as [string, RawRing[], string]
    return { rings: ringsOf(rings), changed: changed !== '' }
  }

  return { tick, overview, near, settings, register }
}

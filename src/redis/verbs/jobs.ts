// Jobs: making them, and whatever else is done to one that is not its run's.

import type { Status } from '../../core/job.ts'
import type { Words } from '../changes.ts'
import { lentOrFault, type RawLent, withSide } from '../claimed.ts'
import { jobsArguments, type NewJob } from '../new-job.ts'
import { filling, type Parts, type RawRing, refusalOf, ringsOf } from '../parts.ts'
import * as scripts from '../scripts.generated.ts'
import type { Enqueued, LaneStart, Made, Near, Once, Ring } from '../types.ts'
import { showing } from '../vault.ts'

type RawMade = [first: string, status: Status, existing: string, n: string]

/** What the API key may have waiting that asks for these jobs; all of a call are asked for by one. */
const quotaOf = (jobs: readonly NewJob[]) => jobs[0]?.quota

const quotaArgs = (jobs: readonly NewJob[]) => {
  const quota = quotaOf(jobs)
  return {
    quota_of: quota?.by ?? '',
    most_jobs: quota ? String(quota.jobs) : '',
    most_bytes: quota ? String(quota.bytes) : '',
  }
}

const madeOf = (answers: RawMade[]): Made[] =>
  answers.flatMap(([first, status, existing, n]) =>
    existing
      ? [{ id: Number(first), status, existing: true as const }]
      : Array.from({ length: Number(n) }, (_, i) => ({ id: Number(first) + i, status })),
  )

const laneArgs = (lane?: LaneStart) => ({
  lane: lane?.id ?? '',
  batch: lane?.max ?? 0,
  lease: lane?.lease ?? 0,
  begun: lane?.begun ?? 0,
})

export function createJobs(parts: Parts) {
  const { client, keys, base, markedBy, ids, moments, vault } = parts
  const { evaluate } = client
  const fill = filling(parts, showing(vault))

  const onceArgs = (once?: Once) => ({
    once: once ? keys.once(once.key) : '',
    once_for: once ? String(once.period) : '',
    fingerprint: once?.fingerprint ?? '',
  })
  const onceKeys = (once?: Once): string[] => (once ? [keys.once(once.key)] : [])

  /** What a script is likely to read: the queues and limits of the jobs, and what all scripts begin with. */
  function keysFor(jobs: NewJob[], once?: Once, lane?: LaneStart): string[] {
    const [queues, limits] = [new Set<string>(), new Set<string>()]
    for (const job of jobs) {
      queues.add(job.queue)
      for (const { key } of job.limits ?? []) limits.add(key)
    }
    return [
      ...onceKeys(once),
      ...(lane ? [keys.lane(lane.id)] : []),
      ...[...queues].map(keys.queue),
      ...[...limits].map(keys.limit),
      ...(quotaOf(jobs) ? [keys.quota(quotaOf(jobs)!.by)] : []),
      keys.lastId,
      keys.hints,
      keys.listened,
      keys.schema,
    ]
  }

  /** Makes jobs, all or none. `again` when the same key had made them before; `lent` what a lane may begin with. */
  async function enqueue(jobs: NewJob[], once?: Once, tagged = '', lane?: LaneStart): Promise<Enqueued> {
    const [word, ...rest] = (await evaluate(
      scripts.enqueue,
      keysFor(jobs, once, lane),
      {
        ...{ ...base(), ...onceArgs(once), tagged, ...laneArgs(lane), ...quotaArgs(jobs), seen: ids.highest },
        ...(lane ? markedBy(lane.id) : {}),
      },
      jobsArguments(jobs, vault),
    )) as [string, ...never[]]
    if (word === 'stale') return { made: [], again: false, rings: [], lent: [], stale: rest[0]! }
    if (word === 'refused') {
      const [code, message, which, member, wait] = rest as string[]
      const path = [...(which && jobs.length > 1 ? [Number(which)] : []), ...(member ? [member] : [])]
      throw refusalOf(code!, message!, { ...(path.length ? { path } : {}), ...(wait ? { wait } : {}) })
    }
    const made = madeOf(rest[0] as unknown as RawMade[])
    const rows = rest[2] as unknown as RawLent[]
    const lent = rows.map((row) => lentOrFault(row, vault))
    ids.saw(made.slice(-1))
    moments.saw(lent[0]?.document.ranAt)
    await fill(withSide(lent, rows))
    return {
      made,
      again: word === 'again',
      rings: ringsOf(rest[1] as unknown as RawRing[]),
      lent,
    }
  }

  /** One job's verbs, or a channel's; all or none. `near`: who is likely to hear of it, read beforehand. */
  async function change(
    job: string,
    ops: Words[],
    once?: Once,
    { queues = [], jobs = [] }: Near = {},
  ): Promise<{ answer: string[]; rings: Ring[]; id: string; again: boolean; heard: string[] }> {
    const [word, ...rest] = (await evaluate(
      scripts.change,
      [...onceKeys(once), keys.hints, keys.listened, keys.schema, ...queues.map(keys.queue), ...jobs.map(keys.job)],
      { ...base(), ...onceArgs(once), job },
      [String(ops.length), ...ops.flat()],
    )) as [string, ...never[]]
    if (word === 'refused') {
      const [code, message, wait] = rest as string[]
      throw refusalOf(code!, message!, wait ? { wait } : {})
    }
    if (word === 'again') return { answer: rest[0]!, rings: [], id: '', again: true, heard: [] }
    const [answer, rings, id, heard] = rest as unknown as [string[], RawRing[], string, string[]]
    return { answer, rings: ringsOf(rings), id: String(id), again: false, heard }
  }

  return { enqueue, change }
}

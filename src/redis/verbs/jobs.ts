// Jobs: making them, and whatever else is done to one that is not its run's.

import type { Status } from '../../core/job.ts'
import { answerOf, type Row } from '../answers.ts'
import { lentOfRows } from '../claimed.ts'
import { jobsArguments, type NewJob } from '../new-job.ts'
import type { Words } from '../ops.ts'
import { filling, granted, type Parts, refusalOf, ringsOf } from '../parts.ts'
import * as scripts from '../scripts.generated.ts'
import type { Enqueued, LaneStart, Made, Near, Once, Ring } from '../types.ts'
import { showing } from '../vault.ts'

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

const madeOf = (rows: Row<'made'>[]): Made[] =>
  rows.flatMap(({ first, status, existing, count }): Made[] =>
    existing
      ? [{ id: first, status: status as Status, existing: true }]
      : Array.from({ length: count }, (_, i) => ({ id: first + i, status: status as Status })),
  )

const laneArgs = (lane?: LaneStart) => ({
  lane: lane?.id ?? '',
  batch: lane?.max ?? 0,
  lease: lane?.lease ?? 0,
  begun: lane?.begun ?? 0,
})

export function createJobs(parts: Parts) {
  const { client, keys, base, markedBy, ids, moments, vault, packedFrom } = parts
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
      ...[...queues].flatMap((queue) => [keys.queue(queue), keys.classCounts(queue)]),
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
    const raw = await evaluate(
      scripts.enqueue,
      keysFor(jobs, once, lane),
      {
        ...{ ...base(), ...onceArgs(once), tagged, ...laneArgs(lane), ...quotaArgs(jobs), seen: ids.highest },
        ...(lane ? markedBy(lane.id) : {}),
      },
      jobsArguments(jobs, vault, packedFrom),
    )
    const answer = answerOf(raw, 'made', 'again', 'refused', 'outdated')
    if (answer.is === 'outdated') return { made: [], again: false, rings: [], lent: [], stale: answer.constraints }
    if (answer.is === 'refused') {
      const { which, member } = answer
      const path = [...(which && jobs.length > 1 ? [Number(which)] : []), ...(member ? [member] : [])]
      throw refusalOf(answer, path.length ? path : undefined)
    }
    const made = madeOf(answer.jobs)
    const { lent, withSide } = lentOfRows(answer.lent, vault)
    ids.saw(made.slice(-1))
    moments.saw(lent[0]?.document.ranAt)
    await fill(withSide)
    return { made, again: answer.is === 'again', rings: ringsOf(answer.rings), lent }
  }

  /** One job's verbs, or a channel's; all or none. `near`: who is likely to hear of it, read beforehand. */
  async function change(
    job: string,
    ops: Words[],
    once?: Once,
    { queues = [], jobs = [] }: Near = {},
  ): Promise<{ answer: string[]; rings: Ring[]; id: string; again: boolean; heard: string[] }> {
    const raw = await evaluate(
      scripts.change,
      [...onceKeys(once), keys.hints, keys.listened, keys.schema, ...queues.map(keys.queue), ...jobs.map(keys.job)],
      { ...base(), ...onceArgs(once), job },
      [String(ops.length), ...ops.flat()],
    )
    const done = granted(answerOf(raw, 'done', 'repeated', 'refused'))
    if (done.is === 'repeated') return { answer: done.answer, rings: [], id: '', again: true, heard: [] }
    const { answer, rings, id, heard } = done
    return { answer, rings: ringsOf(rings), id, again: false, heard }
  }

  return { enqueue, change }
}

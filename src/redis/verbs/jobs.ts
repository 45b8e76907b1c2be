import { addLists, BUDGET, checkSum, type Sum, unitsOf } from '../../core/budget.ts'
import { isOutage } from '../../core/errors.ts'
import { RETRY_KEPT_MS } from '../../core/idempotency.ts'
import { answerOf, type Row } from '../answers.ts'
import { claimedJobs } from '../claimed.ts'
import { isSimple, jobsArguments, type NewJob, type Quota } from '../new-job.ts'
import type { Words } from '../ops.ts'
import { loadLeftOut, type Parts, refusalOf } from '../parts.ts'
import * as scripts from '../scripts.generated.ts'
import { sumOfJobs, sumOfOps } from '../sums.ts'
import { canWaitForOthers, createTogether } from '../together.ts'
import type { Enqueued, LaneStart, Made, Near, Once } from '../types.ts'

const quotaOf = (jobs: readonly NewJob[]) => jobs[0]?.quota

const allowance = (quota: Quota | undefined): string =>
  quota ? `${quota.by} ${[quota.jobs, quota.bytes, quota.tenant?.jobs, quota.tenant?.bytes].join()}` : ''

function madeOf(rows: Row<'made'>[]): Made[] {
  const made: Made[] = []
  for (const { first, status, existing, count } of rows) {
    if (existing) made.push({ id: first, status, existing: true })
    else for (let id = first; id < first + count; id++) made.push({ id, status })
  }
  return made
}

const laneArgs = (lane?: LaneStart) => ({
  lane: lane?.id ?? '',
  batch: lane?.max ?? 0,
  lease: lane?.lease ?? 0,
  begun: lane?.begun ?? 0,
})

type Making = { jobs: readonly NewJob[]; once?: Once; tagged: string; lane?: LaneStart }
/** A call that creates one job without options. One script can serve several such calls. */
type Slight = Making & { once: Once; words: string[]; units: number }

function checkLists(jobs: readonly NewJob[]): void {
  const sum: Sum = new Map()
  for (const job of jobs) addLists(sum, job)
  checkSum(sum)
}

const beginsAs = (one: Making, other: Making): boolean =>
  one.tagged === other.tagged && JSON.stringify(quotaOf(one.jobs)) === JSON.stringify(quotaOf(other.jobs))

export function createJobs(parts: Parts) {
  const { client, keys, base, call, markedBy, ids, moments, vault, packedFrom } = parts
  const fill = loadLeftOut(parts, vault.show)

  const onceArgs = (once?: Once) => ({
    once: once ? keys.once(once.key) : '',
    once_for: once ? String(once.period) : '',
    fingerprint: once?.fingerprint ?? '',
  })
  const quotaKeys = (quota: Quota | undefined): string[] => (quota ? keys.quota(quota.by) : [])
  const onceKeys = (once?: Once): string[] => (once ? [keys.once(once.key)] : [])

  /** Answers that are stored for minutes share a shelf (idempotency.lua). */
  const shelfOf = (once?: Once): string => (once && once.period <= RETRY_KEPT_MS ? keys.shelf(once.key) : '')
  const shelvedArgs = (once?: Once) => ({ ...onceArgs(once), shelf: shelfOf(once) })
  const shelvedKeys = (once?: Once): string[] => [...onceKeys(once), ...[shelfOf(once)].filter(Boolean)]

  function keysFor(jobs: readonly NewJob[], onces: (Once | undefined)[], lane?: LaneStart): string[] {
    const [queues, limits] = [new Set<string>(), new Set<string>()]
    let last: NewJob | undefined
    for (const job of jobs) {
      if (job.queue !== last?.queue) queues.add(job.queue)
      if (job.limits !== last?.limits) for (const { key } of job.limits ?? []) limits.add(key)
      last = job
    }
    return [
      ...onces.flatMap(shelvedKeys),
      ...(lane ? [keys.lane(lane.id)] : []),
      ...[...queues].flatMap((queue) => [keys.queue(queue), keys.classCounts(queue)]),
      ...[...limits].map(keys.limit),
      ...quotaKeys(quotaOf(jobs)),
      keys.lastId,
      keys.highestId,
      keys.hints,
      keys.outbox,
      keys.listened,
      keys.schema,
    ]
  }

  async function send({ jobs, once, tagged, lane }: Making, words: string[], beside: readonly Slight[] = []) {
    const others = beside.flatMap(({ once }) => Object.values(shelvedArgs(once)))
    const raw = await client.evaluate(
      scripts.enqueue,
      keysFor([...jobs, ...beside.flatMap(({ jobs }) => jobs)], [once, ...beside.map(({ once }) => once)], lane),
      {
        ...base(),
        ...shelvedArgs(once),
        tagged,
        ...laneArgs(lane),
        allowance: allowance(quotaOf(jobs)),
        seen: ids.highest,
        ...(lane ? markedBy(lane.id) : {}),
      },
      [String(beside.length), ...others, ...words],
    )
    return answerOf(raw, ...scripts.enqueue.answers)
  }

  const outdated = (stale: string): Enqueued => ({ made: [], again: false, rings: [], claimed: [], stale })

  async function alone(making: Making, words: string[]): Promise<Enqueued> {
    const answer = await send(making, words)
    if (answer.is === 'outdated') return outdated(answer.constraints)
    if (answer.is === 'refused') {
      const { which, member } = answer
      const path = [...(which && making.jobs.length > 1 ? [Number(which)] : []), ...(member ? [member] : [])]
      throw refusalOf(answer, path.length ? path : undefined)
    }
    const made = madeOf(answer.jobs)
    const { claimed, withSide } = claimedJobs(answer.claimed, vault)
    ids.saw(made.slice(-1))
    moments.saw(claimed[0]?.document.ranAt)
    await fill(withSide)
    return { made, again: answer.is === 'again', rings: answer.rings, claimed }
  }

  async function allAtOnce(calls: Slight[]): Promise<Enqueued[] | undefined> {
    const words = [String(calls.length), ...calls.flatMap(({ words }) => words.slice(1))]
    try {
      const answer = await send(calls[0]!, words, calls.slice(1))
      if (answer.is === 'outdated') return calls.map(() => outdated(answer.constraints))
      if (answer.is !== 'made') return undefined
      const made = madeOf(answer.jobs)
      ids.saw(made)
      return made.map((one, i) => ({ made: [one], again: false, rings: i ? [] : answer.rings, claimed: [] }))
    } catch (error) {
      if (isOutage(error)) throw error
      return undefined
    }
  }

  const byItself = (call: Slight): Promise<Enqueued> => alone(call, call.words)
  const together = createTogether<Slight, Enqueued>({
    alone: byItself,
    together: allAtOnce,
    suits: (call, others) =>
      others.every(({ once }) => once.key !== call.once.key) &&
      beginsAs(call, others[0]!) &&
      others.reduce((units, other) => units + other.units, call.units) <= BUDGET,
  })
  const slight = canWaitForOthers() ? together : byItself

  /** `again` means that an earlier call with the same key created the jobs. */
  async function enqueue(jobs: NewJob[], once?: Once, tagged = '', lane?: LaneStart): Promise<Enqueued> {
    checkLists(jobs)
    const words = jobsArguments(jobs, vault, packedFrom)
    const sum = sumOfJobs(words)
    checkSum(sum)
    if (once && !lane && isSimple(jobs, words)) return slight({ jobs, once, tagged, words, units: unitsOf(sum) })
    return alone({ jobs, once, tagged, lane }, words)
  }

  async function change(job: string, ops: Words[], once?: Once, { queues = [], jobs = [], quota }: Near = {}) {
    const words = ops.flat()
    checkSum(sumOfOps(words))
    const declared = [
      ...onceKeys(once),
      keys.hints,
      keys.outbox,
      keys.listened,
      keys.schema,
      ...queues.map(keys.queue),
      ...jobs.map(keys.job),
      ...quotaKeys(quota),
    ]
    const args = { ...onceArgs(once), allowance: allowance(quota), job }
    const done = await call(scripts.change, args, { keys: declared, rest: [String(ops.length), ...words] })
    if (done.is === 'repeated') return { answer: done.answer, rings: [], id: '', again: true, receivers: [] }
    const { is: _, ...rest } = done
    return { ...rest, again: false }
  }

  return { enqueue, change }
}

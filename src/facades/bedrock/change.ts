import { hasCode } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import type { Call, DeliveryUpdate } from '../../engine/engine.ts'
import type { Engine } from '../../engine/index.ts'
import { repeatIn } from './create.ts'
import { readCompact } from './data.ts'
import { type Given, isJob, isOn, leadingNumber, momentOf, needJob, needName, needText, priorityOf } from './given.ts'
import { ownedJob, QUEUE, withJob } from './jobs.ts'
import { Refusal, refusals } from './refusal.ts'
import { isTaken, stateOf } from './shown.ts'

const MOST_DATA = 1024 * 1024
const AT_ONCE = 20

export async function updateJob(engine: Engine, from: Given, call: Call): Promise<void> {
  const id = needJob(from)
  const { own } = readCompact(needText(from, 'data', MOST_DATA))
  const repeat = repeatIn(from('repeat'))
  const amendment: DeliveryUpdate = {
    args: own,
    priority: priorityOf(from('jobPriority')),
    dueAt: momentOf(from('nextRun'), 'nextRun'),
    ...(repeat ? { repeat: { bedrock: repeat, stopOnFail: true } } : {}),
    ...(leadingNumber(from('shouldClearRepeat')) !== 0 ? { repeat: null } : {}),
    counted: 'anew',
  }
  const job = await ownedJob(engine, id)
  // Ignores `nextRun` for a running job that does not repeat, because the job has no next run.
  if (isTaken(job) && job.repeat === null && !amendment.repeat) delete amendment.dueAt
  await engine.deliveries.update(id, amendment, call).catch((error) => {
    // Either the repeat counts from a start that never happened, or its next start is after the year 9999.
    if (repeat && hasCode(error, 'BAD_REQUEST')) throw refusals.malformed('repeat')
    throw error
  })
}

const cancellable = new Set(['QUEUED', 'RUNQUEUED', 'FAILED'])

export const cancelJob = (engine: Engine, from: Given, call: Call): Promise<void> =>
  withJob(engine, needJob(from), async (job) => {
    if (Object.keys(job.children).length > 0)
      throw new Refusal(404, 'Invalid jobID - Cannot cancel a job with children')
    if (!job.parent) throw new Refusal(404, 'Invalid jobID - Cannot cancel a job without a parent')
    if (cancellable.has(stateOf(job))) await engine.deliveries.withdraw(job, 'cancel', call)
  })

const undeletable: Record<string, string> = {
  RUNNING: "Can't delete a RUNNING job",
  PAUSED: "Can't delete a parent jobs with children running",
}

export const deleteJob = (engine: Engine, from: Given, call: Call): Promise<void> =>
  withJob(engine, needJob(from), async (job) => {
    const why = undeletable[stateOf(job)]
    if (why) throw new Refusal(405, why)
    await engine.deliveries.withdraw(job, 'delete', call)
  })

const listOf = (text = ''): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean)

export async function requeueJobs(engine: Engine, from: Given): Promise<void> {
  const name = from('name') ? needName(from) : undefined
  const forgiven = isOn(from('decrementFailures'))
  const ids = listOf(from('jobIDs')).filter(isJob)
  if (ids.length > limits.requeued.most)
    throw new Refusal(402, `Expected at most ${limits.requeued.most} jobIDs, got ${ids.length}`)
  if (name === undefined) {
    if (ids.length > 0) await engine.deliveries.requeueAll(QUEUE, ids, { forgiven })
    return
  }
  const requeue = async (id: string) => {
    const job = await ownedJob(engine, id).catch(unknown)
    if (job) await engine.deliveries.requeue(id, { forgiven, class: name }).catch(unknown)
  }
  for (let at = 0; at < ids.length; at += AT_ONCE) await Promise.all(ids.slice(at, at + AT_ONCE).map(requeue))
}

// Ids without a job are skipped.
const unknown = (error: unknown): undefined => {
  if (!(error instanceof Refusal || hasCode(error, 'NOT_FOUND'))) throw error
}

export const crash = (engine: Engine, from: Given): Promise<void> =>
  engine.deliveries.block(QUEUE, listOf(from('names')))

export const clearCrashed = (engine: Engine): Promise<void> => engine.deliveries.block(QUEUE, null)

import { ended } from '../../core/job.ts'
import type { DeliveredJob, DeliveryEnd } from '../../engine/engine.ts'
import type { Engine } from '../../engine/index.ts'
import { readCompact } from './data.ts'
import { delayOf, type Given, isOn, momentOf, needJob, needName, priorityOf } from './given.ts'
import { ownedJob } from './jobs.ts'
import { Refusal } from './refusal.ts'
import { isTaken, MOCK, repeatOf, waitsForChildren } from './shown.ts'

const children = (job: DeliveredJob) => Object.values(job.children)
const hasPending = (job: DeliveredJob): boolean => children(job).some(({ status }) => !ended.has(status))
const hasFailed = (job: DeliveredJob): boolean => children(job).some(({ status }) => status === 'failed')

async function endable(engine: Engine, from: Given): Promise<DeliveredJob> {
  const job = await ownedJob(engine, needJob(from))
  if (!isTaken(job) && job.tag !== MOCK) throw new Refusal(405, 'Can only retry/finish RUNNING and RUNQUEUED jobs')
  if (job.parent && !repeatOf(job)) await checkParent(engine, String(job.parent.id))
  return job
}

async function checkParent(engine: Engine, id: string): Promise<void> {
  const parent = await ownedJob(engine, id)
  if (!waitsForChildren(parent)) throw new Refusal(405, 'Can only retry/finish child job when parent is PAUSED')
}

function dataIn(from: Given, job: DeliveredJob): { args?: string; ends: boolean } {
  const text = from('data')
  if (!text) return { ends: false }
  const { own, ends, mocked } = readCompact(text)
  if (mocked !== (job.tag === MOCK)) throw new Refusal(500, 'Mock Mismatch')
  return { args: own, ends }
}

const seizing = (from: Given, job: DeliveredJob): Partial<DeliveryEnd> => ({
  token: from('token'),
  seizes: job.tag === MOCK,
})

export async function finishJob(engine: Engine, from: Given): Promise<void> {
  const job = await endable(engine, from)
  const { args, ends } = dataIn(from, job)
  const base = { ...seizing(from, job), args, forget: true }
  const repeats = repeatOf(job) !== '' && !ends && !isOn(from('ignoreRepeat'))
  if (hasPending(job)) {
    // The job repeats only after a run in which all its children have ended.
    await engine.deliveries.finish(String(job.id), { ...base, end: 'suspended', waitFor: 'children', slot: 'keep' })
    return
  }
  if (!repeats && hasFailed(job)) throw new Refusal(405, 'Failed to delete a job with outstanding children')
  await engine.deliveries.finish(String(job.id), { ...base, end: 'completed', slot: repeats ? 'next' : 'none' })
}

export async function retryJob(engine: Engine, from: Given): Promise<void> {
  const job = await endable(engine, from)
  const { args, ends } = dataIn(from, job)
  const repeats = repeatOf(job) !== '' && !ends && !isOn(from('ignoreRepeat'))
  const delay = delayOf(from('delay'))
  const at = momentOf(from('nextRun'), 'nextRun')
  await engine.deliveries.finish(String(job.id), {
    ...seizing(from, job),
    end: 'again',
    args,
    forget: true,
    class: from('name') ? needName(from) : undefined,
    priority: priorityOf(from('jobPriority')),
    ...(repeats ? { slot: 'next' } : { slot: 'asked', ...(at === undefined ? { wait: delay } : { at }) }),
  })
}

export async function failJob(engine: Engine, from: Given): Promise<void> {
  const job = await ownedJob(engine, needJob(from))
  if (!isTaken(job)) throw new Refusal(405, 'Can only fail RUNNING or RUNQUEUED jobs')
  const text = from('data')
  await engine.deliveries.finish(String(job.id), {
    token: from('token'),
    end: 'failed',
    args: text ? readCompact(text).own : undefined,
    error: { message: 'its worker called FailJob', retry: false },
  })
}

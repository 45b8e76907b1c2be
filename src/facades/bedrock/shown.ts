import { decodeValue, type Encoded, raw } from '../../core/codec/value.ts'
import { iso } from '../../core/time.ts'
import type { DeliveredJob, Delivery, EndedChild } from '../../engine/engine.ts'
import { withMembers } from './data.ts'

export const MOCK = 'mock'

/** People perform these jobs and may take any time, so their deliveries are not counted. */
export const isManual = (name: string): boolean => name.startsWith('manual')

/** Bedrock shows a running job with retryAfter as RUNQUEUED. */
const held = ({ redeliver }: DeliveredJob): string => (redeliver === null ? 'RUNNING' : 'RUNQUEUED')

const states: Record<DeliveredJob['status'], (job: DeliveredJob) => string> = {
  queued: (job) => (job.unanswered ? held(job) : 'QUEUED'),
  running: held,
  terminating: held,
  suspended: () => 'PAUSED',
  completed: () => 'FINISHED',
  failed: () => 'FAILED',
  terminated: () => 'CANCELLED',
}

export const stateOf = (job: DeliveredJob): string => states[job.status](job)

export const isTaken = (job: DeliveredJob): boolean => ['RUNNING', 'RUNQUEUED'].includes(stateOf(job))

export const waitsForChildren = (job: DeliveredJob): boolean =>
  job.status === 'suspended' && job.waitingFor === 'children'

/** @example shownTime(Date.UTC(2026, 2, 11, 12)) // '2026-03-11 12:00:00' */
const shownTime = (at: number): string => iso(at).slice(0, 19).replace('T', ' ')

// Bedrock shows milliseconds only for a job that has never run.
const shownDue = (at: number, ran: boolean): string =>
  ran || at % 1000 === 0 ? shownTime(at) : iso(at).slice(0, 23).replace('T', ' ')

const nextRunOf = (job: DeliveredJob): string => {
  const ran = job.ranAt !== null
  if (job.status === 'running' && job.redeliver !== null) return shownTime(job.leaseUntil!)
  return waitsForChildren(job) && ran ? shownTime(job.ranAt!) : shownDue(job.dueAt, ran)
}

export const repeatOf = ({ repeat }: DeliveredJob): string => {
  const kept = repeat === null ? '' : (decodeValue(repeat) as string | { bedrock?: string })
  return typeof kept === 'string' ? kept : (kept.bedrock ?? '')
}

export const dataOf = (job: DeliveredJob): Encoded => {
  const counts = job.deliveries > 0 && !isManual(job.class)
  const anchored = counts && job.slot !== null && repeatOf(job).startsWith('SCHEDULED')
  return withMembers(job.args ?? '{}', {
    retryAfterCount: counts ? job.deliveries : undefined,
    originalNextRun: anchored ? shownTime(job.slot!) : undefined,
    mockRequest: job.tag === MOCK ? true : undefined,
  })
}

const common = (job: DeliveredJob) => ({
  created: shownTime(job.createdAt),
  data: raw(dataOf(job)),
  jobID: job.id,
  lastRun: job.ranAt === null ? '' : shownTime(job.ranAt),
  name: job.class,
  nextRun: nextRunOf(job),
  priority: 500 - job.priority,
  repeat: repeatOf(job),
  retryAfter: job.redeliver ?? '',
})

const sorted = (shown: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(shown).sort(([a], [b]) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)))

export const queried = (job: DeliveredJob) => sorted({ ...common(job), state: stateOf(job) })

export const rowOf = (job: DeliveredJob): Record<string, unknown> => ({
  ...common(job),
  state: stateOf(job),
  parentJobID: job.parent?.id ?? 0,
})

const childrenThat = (family: EndedChild[], is: EndedChild['how']) =>
  family.filter(({ how }) => how === is).map(({ id, args }) => ({ data: raw(args ?? '{}'), jobID: id }))

/** Bedrock shows an empty list of finished or cancelled children, but no empty list of failed children. */
const familyOf = (family: EndedChild[]) => {
  if (family.length === 0) return {}
  const failed = childrenThat(family, 'failed')
  return {
    finishedChildJobs: childrenThat(family, 'finished'),
    cancelledChildJobs: childrenThat(family, 'cancelled'),
    ...(failed.length ? { failedChildJobs: failed } : {}),
  }
}

export const taken = ({ job, family }: Delivery, parents: Map<number, DeliveredJob>) => {
  const parent = job.parent === null ? undefined : parents.get(job.parent.id)
  // Bedrock shows the job as it was before the delivery.
  const shown = common({ ...job, status: 'queued' })
  const above = parent ? { parentJobID: parent.id, parentData: raw(dataOf(parent)) } : {}
  return sorted({ ...shown, ...above, ...familyOf(family) })
}

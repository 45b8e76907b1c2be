import * as z from 'zod'
import { CLOSED, type Closed } from './codec/json.ts'
import { writeMsgpack } from './codec/msgpack-writer.ts'
import { type Encoded, raw } from './codec/value.ts'
import { check } from './issues.ts'
import type { Changes, RunError, Snapshot } from './run.ts'
import { closed } from './schemas.ts'
import { SECOND } from './units.ts'

const finishedAt = z.iso.datetime({ offset: true, error: 'expected a time in ISO 8601 with its zone' })

const success = { type: z.literal('success') }
const failure = { type: z.literal('failure') }
const ofSuccess = z.object({ finished_at: finishedAt, result: closed })
const ofFailure = z.object({
  reason: z.enum(['other', 'timeout']),
  finished_at: finishedAt,
  should_retry: z.boolean(),
  error: closed,
  message: z.string(),
})

export const resultMap = z.discriminatedUnion('type', [ofSuccess.extend(success), ofFailure.extend(failure)])

export const shortForm = z.discriminatedUnion('type', [
  ofSuccess.partial().extend(success),
  ofFailure.partial().extend(failure),
])

export const workerCall = z.object({
  id: z.string(),
  name: z.string(),
  argument: closed,
  attempt: z.int().min(1),
  timeout: z.number(),
})

/** The id is the same on every attempt. */
export const callBody = ({ run, job }: Snapshot): Uint8Array =>
  writeMsgpack({
    id: String(job.id),
    name: job.class,
    argument: job.args === null ? null : raw(job.args),
    attempt: run.attempt,
    timeout: run.timeout / SECOND,
  })

export const closedResultMap: Closed = { result: CLOSED, error: CLOSED }

export type ResultMap = {
  type: 'success' | 'failure'
  result?: Encoded
  reason?: unknown
  should_retry?: unknown
  error?: Encoded
  message?: unknown
}

export function changesIn(map: ResultMap): Pick<Changes, 'end' | 'result' | 'error'> {
  const { type, result, reason, should_retry, error: detail, message = '' } = map
  if (type === 'success') return { end: 'completed', result }
  const error: RunError = { message: String(message), reason: reason === 'timeout' ? reason : 'other', detail }
  return { end: 'failed', error: should_retry === false ? { ...error, retry: false } : error }
}

export function readResultMap(read: (closed: Closed) => unknown): Pick<Changes, 'end' | 'result' | 'error' | 'saidAt'> {
  const map = check(resultMap, read(closedResultMap))
  return { ...changesIn(map), saidAt: map.finished_at }
}

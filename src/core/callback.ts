import { writeJson } from './codec/json-writer.ts'
import { type Encoded, raw } from './codec/value.ts'
import type { Retry } from './retry.ts'
import { iso } from './time.ts'
import { HOUR, MINUTE, SECOND } from './units.ts'

const callbackDelays: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
]

export const CALLBACKS = { queue: 'sidejob', class: 'callback' } as const

export const isCallbackQueue = (queue: string): boolean =>
  queue === CALLBACKS.queue || queue.startsWith(`${CALLBACKS.queue}.`)

/** The API refuses group names that begin with this prefix. */
export const CALLBACK_GROUP = 'callback:'
export const callbackGroup = (host: string): string => CALLBACK_GROUP + host
export const isCallbackGroup = (id: string): boolean => id.startsWith(CALLBACK_GROUP)

const JITTER = 0.1

export const callbackRetry = (delays: readonly number[] = callbackDelays): Retry => ({
  max: delays.length,
  backoff: { delays: [...delays], jitter: JITTER },
})

export const totalDelay = (delays: readonly number[] = callbackDelays): number =>
  delays.reduce((sum, delay) => sum + delay, 0) * (1 + JITTER)

export type Ended = {
  job: number
  end: number
  queue: string
  class: string
  status: 'completed' | 'failed' | 'terminated'
  finishedAt: number
} & ({ type: 'success'; result: Encoded } | { type: 'failure'; reason: string; message: string; error: Encoded | null })

/** After a failover, Redis may reuse the number `end`, so the id also contains the time. */
export const webhookId = ({ job, end, finishedAt }: Ended): string => `end_${job}_${end}_${finishedAt.toString(36)}`

export function envelope(ended: Ended): string {
  const { job: id, queue, class: name, status, type } = ended
  const head = { id, queue, class: name, status, type, finishedAt: iso(ended.finishedAt) }
  if (ended.type === 'success') return writeJson({ ...head, result: raw(ended.result) })
  const { reason, message, error } = ended
  return writeJson({ ...head, reason, message, error: error === null ? null : raw(error) })
}

export const kafkaBody = (payload: string): string => `{"records":[{"value":${payload}}]}`

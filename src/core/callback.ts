// Callbacks about the end of a job, and their retries.

import { writeJson } from './codec/json-writer.ts'
import { type Encoded, raw } from './codec/value.ts'
import type { Retry } from './retry.ts'
import { iso } from './time.ts'

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000]

/** Ten tries in about three days: at once, then after each of these. */
export const callbackDelays: readonly number[] = [
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

/** Callbacks are jobs of ours: of this class, in this queue. */
export const CALLBACKS = { queue: 'sidejob', class: 'callback' } as const

/** The group of the callbacks to one host; no other group may be called so. */
export const CALLBACK_GROUP = 'callback:'
export const callbackGroup = (host: string): string => CALLBACK_GROUP + host
export const isCallbackGroup = (id: string): boolean => id.startsWith(CALLBACK_GROUP)

const JITTER = 0.1

export const callbackRetry = (delays: readonly number[] = callbackDelays): Retry => ({
  max: delays.length,
  backoff: { delays: [...delays], jitter: JITTER },
})

/** After how long a callback that was only ever kept back is given up. */
export const patienceOf = (delays: readonly number[] = callbackDelays): number =>
  delays.reduce((sum, delay) => sum + delay, 0) * (1 + JITTER)

/** One end of a job, as reported in a callback. */
export type Ended = {
  job: number
  /** Which of its ends: 1, 2, … */
  end: number
  queue: string
  class: string
  status: 'completed' | 'failed' | 'terminated'
  finishedAt: number
} & ({ type: 'success'; result: Encoded } | { type: 'failure'; reason: string; message: string; error: Encoded | null })

/**
 * The id under which a receiver knows it again: the same on every try. The moment is part of it, because an end that a
 * failover of Redis has lost leaves its number to another.
 */
export const webhookId = ({ job, end, finishedAt }: Ended): string => `end_${job}_${end}_${finishedAt.toString(36)}`

/**
 * The usual body: who ended, and the result as `GET …/result` gives it. The same text on every try.
 *
 * @example envelope(ended) // '{"id":7,…,"status":"completed","type":"success","finishedAt":"…","result":144}'
 */
export function envelope(ended: Ended): string {
  const { job: id, queue, class: name, status, type } = ended
  const head = { id, queue, class: name, status, type, finishedAt: iso(ended.finishedAt) }
  if (ended.type === 'success') return writeJson({ ...head, result: raw(ended.result) })
  const { reason, message, error } = ended
  return writeJson({ ...head, reason, message, error: error === null ? null : raw(error) })
}

/** A payload as a Kafka REST proxy takes it. */
export const kafkaBody = (payload: string): string => `{"records":[{"value":${payload}}]}`

// Failed jobs by kinds of errors. What kind an error is is worked out when somebody looks: failing costs nothing for it.

import { decodeValue } from '../../core/codec/value.ts'
import { type Failure, type Kind, kindOf } from '../../core/fingerprint.ts'
import type { JobRecord } from '../../redis/record.ts'
import type { Context } from '../context.ts'
import type { Engine, ErrorKind } from '../engine.ts'
import { shownError } from '../run/shown.ts'

/** So many failed jobs are looked at in one call. */
const LOOKED_AT = 1_000
/** So many jobs of a kind are named. */
const NAMED = 3
const MESSAGE = 500
const MINUTE = 60_000

const failureOf = (record: JobRecord): Failure => {
  const shown = shownError(record)
  const error = shown === null ? null : decodeValue(shown)
  return typeof error === 'object' && error !== null ? (error as Failure) : {}
}

/** Which kind of error a job has. */
export const kindOfJob = (document: JobRecord): Kind => kindOf(document.class, failureOf(document))

/** How many of these moments are in which minute, oldest first. */
function minutesOf(moments: readonly number[]): { at: number; count: number }[] {
  const counts = new Map<number, number>()
  for (const at of moments.toSorted((a, b) => a - b)) {
    const minute = at - (at % MINUTE)
    counts.set(minute, (counts.get(minute) ?? 0) + 1)
  }
  return [...counts].map(([at, count]) => ({ at, count }))
}

export function createErrors({ store }: Context): Pick<Engine, 'errors'> {
  return {
    async errors({ queue, class: name, since, cursor: before, details = false }) {
      const filter = { mode: 'all', status: 'failed', queue, class: name, since, before, limit: LOOKED_AT } as const
      const { jobs, cursor } = await store.list(filter)
      const kinds = new Map<string, ErrorKind>()
      const moments = new Map<string, number[]>()
      for (const { id, document } of jobs) {
        const { fingerprint, message, frame } = kindOfJob(document)
        const at = document.endedAt ?? 0
        const own = moments.get(fingerprint)
        if (own) own.push(at)
        else moments.set(fingerprint, [at])
        const known = kinds.get(fingerprint)
        if (known) {
          known.count++
          known.firstAt = Math.min(known.firstAt, at)
          known.lastAt = Math.max(known.lastAt, at)
          if (known.jobs.length < NAMED) known.jobs.push(id)
          if (!known.queues.includes(document.queue)) known.queues.push(document.queue)
          continue
        }
        const said = failureOf(document).message
        const example = typeof said === 'string' ? said.slice(0, MESSAGE) : ''
        const about = { error: fingerprint, class: document.class, queues: [document.queue], message, example, frame }
        kinds.set(fingerprint, { ...about, count: 1, firstAt: at, lastAt: at, jobs: [id] })
      }
      const errors = [...kinds.values()]
        .sort((a, b) => b.count - a.count || b.lastAt - a.lastAt)
        .map((kind) => (details ? { ...kind, minutes: minutesOf(moments.get(kind.error)!) } : kind))
      return { errors, looked: jobs.length, cursor }
    },
  }
}

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

/** A failed job, and of which kind its error is. */
type Failed = { id: number; document: JobRecord; kind: Kind }

/** The jobs of one kind, newest first, as one row. */
function rowOf([first, ...others]: [Failed, ...Failed[]], details: boolean): ErrorKind {
  const all = [first, ...others]
  const { document, kind } = first
  const moments = all.map((one) => one.document.endedAt ?? 0)
  const said = failureOf(document).message
  return {
    error: kind.fingerprint,
    class: document.class,
    queues: [...new Set(all.map((one) => one.document.queue))],
    message: kind.message,
    example: typeof said === 'string' ? said.slice(0, MESSAGE) : '',
    frame: kind.frame,
    count: all.length,
    firstAt: Math.min(...moments),
    lastAt: Math.max(...moments),
    jobs: all.slice(0, NAMED).map(({ id }) => id),
    ...(details ? { minutes: minutesOf(moments) } : {}),
  }
}

export function createErrors({ store }: Context): Pick<Engine, 'errors'> {
  return {
    async errors({ queue, class: name, since, cursor: before, details = false }) {
      const filter = { mode: 'all', status: 'failed', queue, class: name, since, before, limit: LOOKED_AT } as const
      const { jobs, cursor } = await store.list(filter)
      const failed = jobs.map(({ id, document }) => ({ id, document, kind: kindOfJob(document) }))
      const kinds = Map.groupBy(failed, ({ kind }) => kind.fingerprint)
      const errors = [...kinds.values()]
        .map((own) => rowOf(own as [Failed, ...Failed[]], details))
        .sort((a, b) => b.count - a.count || b.lastAt - a.lastAt)
      return { errors, looked: jobs.length, cursor }
    },
  }
}

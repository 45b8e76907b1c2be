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

const failureOf = (record: JobRecord): Failure => {
  const shown = shownError(record)
  const error = shown === null ? null : decodeValue(shown)
  return typeof error === 'object' && error !== null ? (error as Failure) : {}
}

/** Which kind of error a job has. */
export const kindOfJob = (document: JobRecord): Kind => kindOf(document.class, failureOf(document))

export function createErrors({ store }: Context): Pick<Engine, 'errors'> {
  return {
    async errors({ queue, class: name, since, cursor: before }) {
      const filter = { mode: 'all', status: 'failed', queue, class: name, since, before, limit: LOOKED_AT } as const
      const { jobs, cursor } = await store.list(filter)
      const kinds = new Map<string, ErrorKind>()
      for (const { id, document } of jobs) {
        const { fingerprint, message, frame } = kindOfJob(document)
        const at = document.endedAt ?? 0
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
      const errors = [...kinds.values()].sort((a, b) => b.count - a.count || b.lastAt - a.lastAt)
      return { errors, looked: jobs.length, cursor }
    },
  }
}

// What has been asked of a job, what holds it, and who has it: the facts beside its status.

import { type JobRecord, statusOf } from '../../redis/record.ts'
import { LANE_MARK } from '../../redis/store.ts'
import type { JobFacts, JobUnique, RunFacts } from '../engine.ts'

const DAY = 86_400_000
/** As lib/job/ending.lua has them: for how long an ended job is kept where nothing is said. */
const RETAIN = DAY
const RETAIN_FAILED = 30 * DAY

const untils: Record<string, JobUnique['until']> = { '1': 'deleted', s: 'started', b: 'started' }

/** The last line of a scope: before it stand the queue and the class. */
const keyOf = (scope: string): string => scope.slice(scope.lastIndexOf('\n') + 1)

function uniqueOf({ uniqueScope, timedUniqueScope, uniqueHeld }: JobRecord): JobUnique | null {
  if (uniqueScope !== undefined) return { key: keyOf(uniqueScope), until: untils[uniqueHeld ?? ''] ?? 'ended' }
  return timedUniqueScope === undefined ? null : { key: keyOf(timedUniqueScope), until: 'time' }
}

/** The first letters of the lane that a run is in, as its token has them. */
export const laneMarkOf = (token: string): string => token.split('.')[2]!.replace(/^r/, '').slice(0, LANE_MARK)

/** The run under way: since when, until when it is lent, and to whom. */
export function runOf(doc: JobRecord): RunFacts | null {
  if (doc.place !== 'l' || doc.token === undefined) return null
  return {
    startedAt: doc.ranAt!,
    leaseUntil: doc.leaseUntil!,
    process: doc.process ?? null,
    lane: doc.process === undefined ? laneMarkOf(doc.token) : null,
  }
}

/** Until when an ended job is kept at least; null where nobody can say: it has not ended, or data can still wake it. */
function keptUntil(doc: JobRecord): number | null {
  const status = statusOf(doc)
  const wakes = Object.keys(doc).some((name) => name.startsWith('i:') && !doc[name as `i:${string}`]!.endsWith(',d'))
  if (doc.endedAt === undefined || wakes) return null
  if (status === 'failed') return doc.endedAt + (doc.retainFailed ?? RETAIN_FAILED)
  return status === 'completed' || status === 'terminated' ? doc.endedAt + (doc.retain ?? RETAIN) : null
}

const linesOf = (text: string | undefined): string[] => text?.split('\n').filter(Boolean) ?? []

/**
 * What was asked of a job and what holds it; `ownLimit` is that of its worker, which does not stand in its record.
 *
 * @example factsOf(document, { now: Date.now() }).waitingAt // 'group:mail'
 */
export function factsOf(doc: JobRecord, { now, ownLimit }: { now: number; ownLimit?: string }): JobFacts {
  return {
    limits: [...linesOf(doc.limits), ...(ownLimit ? [ownLimit] : [])],
    waitingAt: doc.place === 'w' ? (doc.waitingLimit ?? null) : null,
    tag: doc.tag ?? null,
    retry: doc.retry === undefined ? null : (JSON.parse(doc.retry) as NonNullable<JobFacts['retry']>),
    timeout: doc.timeout ?? null,
    retain: doc.retain ?? null,
    keepResult: doc.keepResult ?? null,
    history: doc.history ?? 0,
    unique: uniqueOf(doc),
    lockedUntil: doc.lockUntil !== undefined && doc.lockUntil > now ? doc.lockUntil : null,
    run: runOf(doc),
    keptUntil: keptUntil(doc),
  }
}

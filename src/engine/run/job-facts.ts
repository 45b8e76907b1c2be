import { ended } from '../../core/job.ts'
import type { JobView, RunFacts } from '../../core/schemas/job-views.ts'
import { DAY } from '../../core/units.ts'
import { PLACE } from '../../redis/marks.ts'
import { type JobRecord, pastRunOf, statusOf } from '../../redis/record.ts'
import { LANE_MARK } from '../../redis/store.ts'

type JobUnique = NonNullable<JobView['unique']>

/** Must match lib/job/expiry.lua. */
const RETAIN = DAY
const RETAIN_FAILED = 30 * DAY

const untils: Record<string, JobUnique['until']> = { '1': 'deleted', s: 'started', b: 'started' }

const keyOf = (scope: string): string => scope.slice(scope.lastIndexOf('\n') + 1)

function uniqueOf({ uniqueScope, timedUniqueScope, uniqueHeld }: JobRecord): JobUnique | null {
  if (uniqueScope !== undefined) return { key: keyOf(uniqueScope), until: untils[uniqueHeld ?? ''] ?? 'ended' }
  return timedUniqueScope === undefined ? null : { key: keyOf(timedUniqueScope), until: 'time' }
}

export const laneMarkOf = (token: string): string => token.split('.')[2]!.replace(/^r/, '').slice(0, LANE_MARK)

export function runOf(doc: JobRecord): RunFacts | null {
  if (doc.place !== PLACE.leased || doc.token === undefined) return null
  return {
    startedAt: doc.ranAt!,
    leaseUntil: doc.leaseUntil!,
    process: doc.process ?? null,
    lane: doc.process === undefined ? laneMarkOf(doc.token) : null,
  }
}

function keptUntil(doc: JobRecord, retain?: number): number | null {
  const status = statusOf(doc)
  if (doc.endedAt === undefined || !ended.has(status)) return null
  const inputs = Object.keys(doc).filter((name) => name.startsWith('i:')) as `i:${string}`[]
  // lib/job/retention.lua never removes a job that listens.
  if (inputs.some((name) => name === 'i:*' || doc[`c${name}`])) return null
  if (status === 'completed' && inputs.some((name) => !doc[name]!.endsWith(',d'))) return null
  const [own, usual] = status === 'failed' ? [doc.retainFailed, RETAIN_FAILED] : [doc.retain, RETAIN]
  return doc.endedAt + (own ?? retain ?? usual)
}

export function factsOf(
  doc: JobRecord,
  { now, ownLimit, retain }: { now: number; ownLimit?: string; retain?: number },
) {
  return {
    limits: [...(doc.limits?.split('\n').filter(Boolean) ?? []), ...(ownLimit ? [ownLimit] : [])],
    waitingAt: doc.place === PLACE.limited ? (doc.waitingLimit ?? null) : null,
    tag: doc.tag ?? null,
    retry: doc.retry === undefined ? null : (JSON.parse(doc.retry) as NonNullable<JobView['retry']>),
    timeout: doc.timeout ?? null,
    retain: doc.retain ?? null,
    keepResult: doc.keepResult ?? null,
    history: doc.history ?? 0,
    unique: uniqueOf(doc),
    lockedUntil: doc.lockUntil !== undefined && doc.lockUntil > now ? doc.lockUntil : null,
    run: runOf(doc),
    keptUntil: keptUntil(doc, retain),
    pinnedTo: doc.pinnedTo ?? null,
    version: doc.lastRun === undefined ? null : (pastRunOf(doc.lastRun).version ?? null),
  }
}

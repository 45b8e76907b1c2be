import * as z from 'zod'
import { changes, snapshot } from './run.ts'
import { jobHead, ofClass, page, status } from './schemas.ts'

export const MAX_RECORDED_BYTES = 65_536

export const recordedRun = z.object({
  snapshot,
  commits: z.array(changes).describe('changes made by each commit; the last entry is the end of the run'),
})

/** `more` names parts that the run read but the record lacks. `bytes` is the size of a run that was too large. */
const storedRun = z.union([recordedRun, z.object({ more: z.string() }), z.object({ bytes: z.int() })])

export const recordedJob = z.object({
  ...jobHead,
  status,
  run: recordedRun.nullable().describe('last run; null if the run cannot be replayed'),
  fault: z.string().optional().describe('reason why `run` is null'),
})

export const recordedQuery = z.strictObject({
  ...ofClass,
  ...page,
})

export type RecordedQuery = z.output<typeof recordedQuery>

/** A page may be empty although more pages follow. */
export const recordedPage = z.object({ jobs: z.array(recordedJob), cursor: z.string().nullable() })

export type RecordedRun = z.output<typeof recordedRun>
export type StoredRun = z.output<typeof storedRun>
export type RecordedJob = z.output<typeof recordedJob>
export type RecordedRunInput = z.input<typeof recordedRun>

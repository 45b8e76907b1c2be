import type { RecordedJob, RecordedQuery, StoredRun } from '../../core/recorded.ts'
import { type JobRecord, redactedPathsOf, statusOf } from '../../redis/record.ts'
import type { Context } from '../context.ts'
import type { Ref } from '../engine.ts'
import { storedRunIn } from '../run/recording.ts'

function faultOf(record: JobRecord, run: StoredRun | undefined): string | undefined {
  if (!run) return 'the values of its last run were not recorded'
  if (redactedPathsOf(record).length > 0) return 'its class redacts values'
  if ('snapshot' in run) return undefined
  if ('more' in run) return `its run read ${run.more}`
  return 'bytes' in run
    ? `its run is too large to be recorded (${run.bytes} characters)`
    : 'the record of its run cannot be decrypted'
}

function recordedOf(id: number, record: JobRecord): RecordedJob {
  const run = record.lastValues === undefined ? undefined : storedRunIn(record.lastValues)
  const fault = faultOf(record, run)
  return {
    id,
    queue: record.queue,
    class: record.class,
    status: statusOf(record),
    run: fault === undefined && run && 'snapshot' in run ? run : null,
    fault,
  }
}

export const createRecorded = ({ store }: Context) => ({
  async list({ cursor, limit = 100, ...filter }: RecordedQuery) {
    const page = await store.list({ ...filter, mode: 'all', status: 'completed,failed', before: cursor, limit })
    const kept = page.jobs.filter(({ document }) => document.lastValues !== undefined)
    return { jobs: kept.map(({ id, document }) => recordedOf(id, document)), cursor: page.cursor }
  },

  async get(job: Ref) {
    const { id, document } = await store.inspect(job)
    return recordedOf(id, document)
  },
})

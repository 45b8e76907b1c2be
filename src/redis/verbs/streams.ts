import { hasCode } from '../../core/errors.ts'
import { fieldsOf } from '../flat.ts'
import type { Parts } from '../parts.ts'

const AUDITED = 10_000

/** A full Redis refuses XADD as the first write of a script, but accepts it after a DEL. */
const ADD_ALTHOUGH_FULL = `redis.call('DEL', KEYS[2])
return redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'e', ARGV[2])`

export type Entry = { id: string; fields: Record<string, string> }

const entriesOf = (rows: unknown): Entry[] =>
  (rows as [string, string[]][]).map(([id, flat]) => ({ id, fields: fieldsOf(flat) }))

export function createStreams({ client: { ask }, keys }: Parts) {
  /** Newest first. */
  const back = async (key: string, from: string, count: number) =>
    entriesOf(await ask<unknown>((redis) => redis.xrevrange(key, from, '-', count)))

  return {
    audit: (entry: string) =>
      ask<unknown>((redis) =>
        redis.xadd(keys.audit, '*', { e: entry }, { trim: { type: 'MAXLEN', comparison: '~', threshold: AUDITED } }),
      ).catch((error: unknown) => {
        if (!hasCode(error, 'FULL')) throw error
        return ask<unknown>((redis) => redis.eval(ADD_ALTHOUGH_FULL, [keys.audit, keys.room], [String(AUDITED), entry]))
      }),
    readAudit: (from: string, count: number) => back(keys.audit, from, count),
    /** A job with a history has its own log. */
    readLog: (from: string, count: number, job?: number) =>
      back(job === undefined ? keys.log : keys.jobLog(job), from, count),
    recordBack: (job: number, from: string, count: number) => back(keys.record(job), from, count),
    recordOn: async (job: number, from: string, count: number) =>
      entriesOf(await ask<unknown>((redis) => redis.xrange(keys.record(job), from, '+', count))),
  }
}

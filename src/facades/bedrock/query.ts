import type { Status } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import type { DeliveredJob } from '../../engine/engine.ts'
import type { Engine } from '../../engine/index.ts'
import { type Given, needText } from './given.ts'
import { QUEUE } from './jobs.ts'
import { Refusal } from './refusal.ts'
import { type Condition, type Row, selectOf } from './select.ts'
import { rowOf } from './shown.ts'

const MOST_QUERY = 8_192
/** Each page examines at most 1,000 jobs. */
const MOST_PAGES = limits.queriedJobs.most / 1_000

const statuses: Record<string, Status> = {
  PAUSED: 'suspended',
  FINISHED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'terminated',
}

function filterOf(conditions: Condition[]) {
  const equal = (column: string) =>
    conditions.find((one) => one.column === column && one.operator === '=')?.values[0] as string | undefined
  const bounds = conditions.filter(({ column }) => column === 'jobID')
  const above = (operator: string, more: number) =>
    bounds.filter((one) => one.operator === operator).map(({ values }) => Number(values[0]) + more)
  return {
    queue: QUEUE,
    class: equal('name'),
    status: statuses[equal('state') ?? ''],
    before: Math.min(Number.MAX_SAFE_INTEGER, ...above('<', 0), ...above('<=', 1), ...above('=', 1)),
    from: Math.max(1, ...above('>', 1), ...above('>=', 0), ...above('=', 0)),
  }
}

export type Answer = { headers: string[]; rows: unknown[][]; more?: string }

export async function query(engine: Engine, given: Given): Promise<Answer> {
  const text = needText(given, 'query', MOST_QUERY).trim()
  if (!text.endsWith(';')) throw new Refusal(502, 'Query Missing Semicolon')
  const { columns: headers, conditions, limit } = selectOf(text)
  const { before, from, ...filter } = filterOf(conditions)
  const rows: unknown[][] = []
  const rest = (id: number | string) => ({ headers, rows, more: `jobID < ${id}` })
  let [cursor, bytes]: [string | null, number] = [String(Math.max(1, before)), 0]
  for (let page = 0; cursor !== null && Number(cursor) > from; page++) {
    if (page === MOST_PAGES || rows.length === limit) return rest(cursor)
    const found: { jobs: DeliveredJob[]; cursor: string | null } = await engine.deliveries.list({ ...filter, cursor })
    for (const job of found.jobs) {
      const row: Row = rowOf(job)
      if (!conditions.every(({ holds }) => holds(row))) continue
      bytes += (job.args ?? '').length
      if (rows.length === limit || (bytes > limits.pageBytes.most && rows.length > 0)) return rest(job.id + 1)
      rows.push(headers.map((column) => row[column]))
    }
    cursor = found.cursor
  }
  return { headers, rows }
}

// Searches a list 1,000 jobs at a time until a page is full. Found rows are cached, so that an open page does not search
// again at each refresh.

import type { JobFilter, JobRow } from '../engine/engine.ts'
import type { Asked } from './page.ts'

/** Maximum milliseconds per request. If the page is not full, the browser sends another request. */
const SEARCHES_FOR = 1_000
const STEPS = 20
/** Lifetime of found rows, in milliseconds. */
const FRESH = 60_000

export type Step<Row> = { rows: Row[]; cursor: string | null; total?: number; newest?: number }

type Search<Row> = {
  name: string
  limit: number
  cursor?: string
  idOf: (row: Row) => number
  step: (cursor?: string) => Promise<Step<Row>>
}

async function onwards<Row>({ step, limit }: Search<Row>, first: Step<Row>): Promise<Step<Row>> {
  const until = Date.now() + SEARCHES_FOR
  const rows: Row[] = []
  let { cursor, newest } = first
  for (let n = 1; n < STEPS && cursor !== null && first.rows.length + rows.length < limit && Date.now() < until; n++) {
    const found = await step(cursor)
    rows.push(...found.rows)
    cursor = found.cursor
    newest = Math.max(newest ?? 0, found.newest ?? 0) || undefined
  }
  return { rows, cursor, newest }
}

const isByIds = (cursor: string | null): cursor is string => cursor !== null && /^\d+$/.test(cursor)

export async function searchOn<Row>({ cache }: Asked, search: Search<Row>): Promise<Step<Row>> {
  const { name, limit, cursor, idOf, step } = search
  let first = await step(cursor)
  if (first.rows.length >= limit || !isByIds(first.cursor)) return first
  const begun = first
  const older = await cache.get(`search ${name} ${cursor ?? ''}`, FRESH, async () => ({
    from: Number(begun.cursor),
    found: await onwards(search, begun),
  }))
  // If new jobs have arrived, the first step ends before the cached rows begin, so search the rows in between.
  for (let n = 1; n < STEPS && isByIds(first.cursor) && Number(first.cursor) > older.from; n++) {
    const next = await step(first.cursor)
    first = { ...first, rows: [...first.rows, ...next.rows], cursor: next.cursor }
  }
  const rows = [...first.rows, ...older.found.rows.filter((row) => idOf(row) < older.from)]
  const { newest = older.found.newest } = first
  return {
    rows: rows.slice(0, limit),
    cursor: rows.length > limit ? String(idOf(rows[limit - 1]!)) : older.found.cursor,
    newest,
    total: first.total,
  }
}

export function searchRows(
  asked: Asked,
  filter: JobFilter & { limit: number },
  name = JSON.stringify(filter),
  within = (step: Step<JobRow>) => step,
) {
  const { limit, cursor } = filter
  return searchOn<JobRow>(asked, {
    name,
    limit,
    cursor,
    idOf: ({ id }) => id,
    async step(cursor) {
      const { jobs, ...more } = await asked.engine.jobs.rows({ ...filter, cursor })
      return within({ rows: jobs, ...more })
    },
  })
}

import type { SqlDatabase, SqlRow } from './database.ts'

/** Maximum size of a response as JSON. */
const MAX_BYTES = 1_048_576

const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g
const PLAN = /^\s*EXPLAIN\s+QUERY\s+PLAN\s/i

/**
 * Wraps an admin's query in parentheses. SQLite accepts only queries in parentheses, so no statement can write.
 *
 * @example wrapped('SELECT 1', 10) // 'SELECT * FROM (\nSELECT 1\n) LIMIT 11'
 */
export function wrapped(sql: string, limit: number): string {
  const plan = PLAN.exec(sql)?.[0] ?? ''
  const query = sql.slice(plan.length).replace(/[;\s]+$/, '')
  if (query.replace(QUOTED, ' ').includes(';') || query.includes('\0'))
    throw new Error('expected one query without a semicolon inside')
  if (/pragma|load_extension/i.test(query)) throw new Error('expected a query without PRAGMA or load_extension')
  if (!/^(?:SELECT|WITH|VALUES)\b/i.test(query.replace(QUOTED, ' ').trim()))
    throw new Error('expected a query that begins with SELECT, WITH, VALUES or EXPLAIN QUERY PLAN')
  return `${plan}SELECT * FROM (\n${query}\n) LIMIT ${limit + 1}`
}

export async function readWith(
  { all, read = (text) => all([text]) }: SqlDatabase,
  sql: string,
  limit: number,
): Promise<{ rows: SqlRow[]; more: boolean }> {
  const found = await read(wrapped(sql, limit))
  const rows: SqlRow[] = []
  let bytes = 0
  for (const row of found.slice(0, limit)) {
    bytes += JSON.stringify(row).length
    if (bytes > MAX_BYTES) break
    rows.push(row)
  }
  return { rows, more: rows.length < found.length }
}

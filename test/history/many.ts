import type { SqlDatabase } from '../../src/history/database.ts'
import { createHistoryStore } from '../../src/history/store.ts'

export const NS = 'sidejob:'
export const START = 1_700_000_000_000
const STEP = 250_000

const INSERT = `WITH RECURSIVE n (i) AS (SELECT CAST(?1 AS INTEGER) UNION ALL SELECT i + 1 FROM n WHERE i < ?2 - 1)
  INSERT INTO ends (ns, job, ended, status, queue, class, created, started, took, waited, attempts, lost, priority,
    args, labels, error, error_kind, error_text)
  SELECT '${NS}', i + ?3, ${START} + i * 10, iif(i % 50 = 0, 'failed', 'completed'), 'queue' || (i % 10),
    'class' || (i % 100), ${START} + i * 10 - 900, ${START} + i * 10 - 500, i % 1000, 400, 1, 0, 0,
    '{"n":' || i || '}', iif(i % 20 = 0, '{"customer":"' || (i / 20 % 1000) || '"}', NULL),
    iif(i % 50 = 0, '{"message":"broken ' || i || '"}', NULL),
    iif(i % 50 = 0, printf('%016x', i / 50 % 20), NULL), iif(i % 50 = 0, 'broken ' || i, NULL) FROM n`
const LABELS = `INSERT INTO labels (ns, name, value, ended, job)
  SELECT ns, 'customer', labels ->> '$.customer', ended, job FROM ends
  WHERE ns = '${NS}' AND job >= ?1 AND job < ?2 AND labels IS NOT NULL`

export async function fillHistory(
  db: SqlDatabase,
  rows: number,
  { first = 0, say = (_line: string): void => {} } = {},
): Promise<void> {
  await createHistoryStore(db).get(NS, 0)
  const began = performance.now()
  for (let from = 0; from < rows; from += STEP) {
    const to = Math.min(rows, from + STEP)
    await db.batch([
      [INSERT, from, to, first],
      [LABELS, first + from, first + to],
    ])
    if (to === rows || from % (STEP * 8) === 0) say(`${to} rows, ${Math.round((performance.now() - began) / 1000)} s`)
  }
}

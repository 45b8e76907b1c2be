import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { SqlDatabase } from '../../src/history/database.ts'
import { sqliteDatabase } from '../../src/history/sqlite.ts'
import { readElsewhere } from '../../src/history/sqlite-reader.ts'
import { createHistoryStore, type HistoryStore } from '../../src/history/store.ts'
import { databases } from './databases.ts'
import { row } from './rows.ts'

const NS = 'sidejob:'

function openFile() {
  const folder = mkdtempSync(join(tmpdir(), 'sidejob-history-'))
  const db = sqliteDatabase(join(folder, 'history.sqlite'))
  const close = () => {
    db.close()
    rmSync(folder, { recursive: true })
  }
  return { db, close }
}

const all = { ...databases, 'a SQLite file': openFile }

describe.each(Object.entries(all))('with %s', (name, open) => {
  let opened: { db: SqlDatabase; close: () => unknown }
  let store: HistoryStore
  let before: string
  beforeAll(async () => {
    opened = await open()
    store = createHistoryStore(opened.db)
    await store.write(NS, {
      ends: [1, 2, 3].map((job) => row(job, { labels: '{"customer":"7"}', args: '"a;b"' })),
      runs: [],
    })
    before = await dump()
  })
  afterAll(() => opened.close())

  const dump = async () => JSON.stringify(await opened.db.all(['SELECT * FROM ends ORDER BY job']))
  afterEach(async () => expect(await dump()).toBe(before))

  const ask = (sql: string, limit = 100) => store.sql(sql, limit)

  test.each([
    ['SELECT count(*) AS n FROM ends', [{ n: 3 }]],
    ['select job from ends order by job desc limit 2;', [{ job: 3 }, { job: 2 }]],
    ['  -- newest\n/* first; */ SELECT max(job) AS job FROM ends -- the end', [{ job: 3 }]],
    ['WITH some AS (SELECT job FROM ends WHERE args = \'"a;b"\') SELECT count(*) AS n FROM some', [{ n: 3 }]],
    ['VALUES (1), (2)', [{ column1: 1 }, { column1: 2 }]],
    ["SELECT replace('a', 'a', 'b') AS \"a;b\"", [{ 'a;b': 'b' }]],
    ["SELECT value, count(*) AS n FROM labels WHERE name = 'customer' GROUP BY value", [{ value: '7', n: 3 }]],
    ['SELECT job FROM ends WHERE job = 1 UNION ALL SELECT NULL', [{ job: 1 }, { job: null }]],
  ])('answers %j', async (sql, rows) => {
    expect(await ask(sql)).toEqual({ rows, more: false })
  })

  test('EXPLAIN shows the plan of a query', async () => {
    const { rows } = await ask("EXPLAIN QUERY PLAN SELECT * FROM ends WHERE ns = 'sidejob:' AND class = 'zip'")
    expect(JSON.stringify(rows)).toContain('ends_class')
  })

  test.each([
    'DELETE FROM ends',
    'delete from ends returning job',
    "INSERT INTO ends (ns) VALUES ('x') RETURNING ns",
    "UPDATE ends SET class = 'x'",
    "REPLACE INTO ends (ns) VALUES ('x')",
    'DROP TABLE ends',
    'CREATE TABLE x (a)',
    'CREATE TEMP TABLE x AS SELECT * FROM ends',
    'ALTER TABLE ends RENAME TO x',
    'VACUUM',
    "VACUUM INTO '/tmp/x'",
    'REINDEX',
    'ANALYZE',
    'BEGIN',
    'COMMIT',
    "ATTACH '/tmp/other.sqlite' AS other",
    'DETACH main',
    'PRAGMA user_version = 7',
    'PRAGMA writable_schema = 1',
    'SELECT * FROM pragma_user_version',
    'SELECT * FROM "pragma_optimize"',
    "SELECT load_extension('/tmp/x.so')",
    'WITH x AS (SELECT 1) DELETE FROM ends',
    "WITH x AS (SELECT 1) INSERT INTO ends (ns) SELECT 'x' FROM x",
    "WITH x AS (SELECT 1) UPDATE ends SET class = 'x' RETURNING *",
    'WITH x AS (DELETE FROM ends RETURNING *) SELECT * FROM x',
    'SELECT * FROM (DELETE FROM ends RETURNING *)',
    'SELECT 1; DELETE FROM ends',
    'SELECT 1;;DELETE FROM ends;',
    'SELECT 1) ; DELETE FROM ends ; SELECT * FROM (SELECT 1',
    'SELECT 1) ; DELETE FROM ends --',
    'SELECT 1 /* ; */ ; DELETE FROM ends',
    "SELECT ';' ; DELETE FROM ends",
    "SELECT '\\' ; DELETE FROM ends --'",
    "SELECT 'it''s' ; DELETE FROM ends --'",
    'SELECT "a"";" ; DELETE FROM ends --"',
    'SELECT [a;] ; DELETE FROM ends --]',
    'SELECT `a` ; DELETE FROM ends --`',
    'SELECT 1 -- \n ; DELETE FROM ends',
    'SELECT 1 /* ; DELETE FROM ends',
    'SELECT 1\0; DELETE FROM ends',
    '/* SELECT */ DELETE FROM ends',
    '-- SELECT\nDELETE FROM ends',
    'EXPLAIN DELETE FROM ends',
    'EXPLAIN QUERY PLAN DELETE FROM ends',
    'EXPLAIN QUERY PLAN SELECT 1; DELETE FROM ends',
    'SELECT 1) RETURNING *; --',
    'SELECT job INTO x FROM ends',
    'SELECT 1) DELETE FROM ends WHERE job IN (SELECT 1',
    ';',
    '-- nothing',
    "SELECT * FROM ends WHERE class = 'zip",
    'SELECT * FROM nothing',
  ])('refuses %j', async (sql) => {
    await expect(ask(sql)).rejects.toThrow(
      /expected (SELECT|one query|a query)|syntax error|no such (table|column|function)|unrecognized token|incomplete input|not authorized/,
    )
  })

  test('parentheses that end the wrapper early leave one query', async () => {
    expect(await ask('SELECT 1 AS n) UNION SELECT * FROM (SELECT 2')).toMatchObject({ rows: [{ n: 1 }, { n: 2 }] })
  })

  test('rows and bytes of an answer are limited', async () => {
    expect(await ask('SELECT job FROM ends ORDER BY job', 2)).toEqual({ rows: [{ job: 1 }, { job: 2 }], more: true })
    expect(await ask('SELECT job FROM ends ORDER BY job', 3)).toMatchObject({ more: false })
    const large = 'WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 20)'
    const { rows, more } = await ask(`${large} SELECT x, printf('%.*c', 100000, 'x') AS text FROM n`)
    expect([rows.length, more]).toEqual([10, true])
  })

  test.runIf(name === 'a SQLite file')('the connection of the query cannot write', async () => {
    await expect(opened.db.read!('DELETE FROM ends')).rejects.toThrow('attempt to write a readonly database')
    await expect(opened.db.read!("SELECT load_extension('x')")).rejects.toThrow(/not authorized/)
  })
})

test('an endless query of a file is stopped, and the file stays usable', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sidejob-history-'))
  const file = join(folder, 'history.sqlite')
  const db = sqliteDatabase(file)
  const endless = 'WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) AS n FROM n'
  await expect(readElsewhere(file, endless, 500)).rejects.toThrow('the query took longer than 0.5 s')
  expect(await readElsewhere(file, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  db.close()
  rmSync(folder, { recursive: true })
})

// D1 bills one more row per job for each index, so the tables have only a few indexes.

import type { SqlDatabase, SqlRow, Statement } from './database.ts'

export const endColumns = [
  'job',
  'ended',
  'status',
  'queue',
  'class',
  'created',
  'started',
  'took',
  'waited',
  'attempts',
  'lost',
  'version',
  'parent',
  'name',
  'labels',
  'grp',
  'tag',
  'priority',
  'by',
  'created_by',
  'scheduled_for',
  'args',
  'result',
  'error',
  'error_kind',
  'error_text',
] as const
export type EndColumn = (typeof endColumns)[number]

export const runColumns = [
  'job',
  'started',
  'ended',
  'outcome',
  'attempt',
  'version',
  'by',
  'queue',
  'class',
  'error',
] as const

const numeric = new Set<string>(
  'job ended created started took waited attempts lost parent priority scheduled_for attempt'.split(' '),
)

const columns = (names: readonly string[]): string =>
  names.map((name) => `${name} ${numeric.has(name) ? 'INTEGER' : 'TEXT'}`).join(', ')

const versions: readonly (readonly string[])[] = [
  [
    `CREATE TABLE IF NOT EXISTS ends (ns TEXT NOT NULL, ${columns(endColumns)})`,
    'CREATE UNIQUE INDEX IF NOT EXISTS ends_job ON ends (ns, job, ended)',
    'CREATE INDEX IF NOT EXISTS ends_time ON ends (ns, ended, job)',
    'CREATE INDEX IF NOT EXISTS ends_class ON ends (ns, class, ended, job)',
    'CREATE INDEX IF NOT EXISTS ends_queue ON ends (ns, queue, ended, job)',
    "CREATE INDEX IF NOT EXISTS ends_status ON ends (ns, status, ended, job) WHERE status <> 'completed'",
    'CREATE INDEX IF NOT EXISTS ends_error ON ends (ns, error_kind, ended, job) WHERE error_kind IS NOT NULL',
    `CREATE TABLE IF NOT EXISTS labels (ns TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
      ended INTEGER NOT NULL, job INTEGER NOT NULL, PRIMARY KEY (ns, name, value, ended, job)) WITHOUT ROWID`,
    `CREATE TABLE IF NOT EXISTS runs (ns TEXT NOT NULL, ${columns(runColumns)},
      PRIMARY KEY (ns, job, ended, started)) WITHOUT ROWID`,
    'CREATE INDEX IF NOT EXISTS runs_time ON runs (ns, ended)',
  ],
]

const VERSION: Statement = ['SELECT max(version) AS version FROM sidejob_history']

async function beginVersions(db: SqlDatabase): Promise<SqlRow[]> {
  await db.batch([['CREATE TABLE IF NOT EXISTS sidejob_history (version INTEGER PRIMARY KEY)']])
  return db.all(VERSION)
}

/** Concurrent calls are safe. */
export async function migrate(db: SqlDatabase) {
  const [row] = await db.all(VERSION).catch(() => beginVersions(db))
  const known = Number(row?.version ?? 0)
  for (const [i, statements] of versions.entries()) {
    if (i < known) continue
    await db.batch([
      ...statements.map((text): Statement => [text]),
      ['INSERT INTO sidejob_history (version) VALUES (?) ON CONFLICT DO NOTHING', i + 1],
    ])
  }
}

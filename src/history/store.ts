import type { SqlDatabase, SqlValue, Statement } from './database.ts'
import { clausesOf, type HistoryFilter, orderOf } from './filter.ts'
import { type EndColumn, endColumns, migrate, runColumns } from './schema.ts'
import { readWith } from './sql.ts'

export type EndRow = Record<EndColumn, SqlValue>
export type RunRow = Record<(typeof runColumns)[number], SqlValue>

type HistoryPage = {
  rows: EndRow[]
  cursor: string | null
  searchedTo?: number
}

export type HistoryStore = ReturnType<typeof createHistoryStore>

/**
 * D1 accepts parameters of at most 2 MB, and each of these characters has at most 3 bytes. One row is always smaller,
 * because the outbox stores only the size of a value above 32 KiB.
 */
const MAX_CHUNK_LENGTH = 600_000
const WINDOW = 10_000
const SLICE = 1_000
const RUNS = 1_000

const valuesIn = (count: number): string => Array.from({ length: count }, (_, i) => `value ->> '$[${i}]'`).join(', ')

const insertOf = (table: string, columns: readonly string[]): string =>
  `INSERT INTO ${table} (ns, ${columns.join(', ')}) SELECT ?1, ${valuesIn(columns.length)} FROM json_each(?2) WHERE true ON CONFLICT DO NOTHING`

const INSERT_ENDS = insertOf('ends', endColumns)
const INSERT_RUNS = insertOf('runs', runColumns)
const INSERT_LABELS = `INSERT INTO labels (ns, name, value, ended, job)
  SELECT ?1, label.key, label.value, one.value ->> '$[1]', one.value ->> '$[0]'
  FROM json_each(?2) AS one, json_each(one.value ->> '$[${endColumns.indexOf('labels')}]') AS label
  WHERE true ON CONFLICT DO NOTHING`

function* chunks(texts: readonly string[]): Generator<string> {
  let chunk: string[] = []
  let length = 0
  for (const text of texts) {
    if (chunk.length > 0 && length + text.length > MAX_CHUNK_LENGTH) {
      yield `[${chunk.join(',')}]`
      chunk = []
      length = 0
    }
    chunk.push(text)
    length += text.length
  }
  if (chunk.length > 0) yield `[${chunk.join(',')}]`
}

const jsonOf = <Row extends object>(rows: readonly Row[], columns: readonly (keyof Row)[]): string[] =>
  rows.map((row) => JSON.stringify(columns.map((name) => row[name])))

const FORGET_SLICE = `SELECT rowid FROM ends INDEXED BY ends_time WHERE ns = ?1 AND ended < ?2 ORDER BY ended, job LIMIT ${SLICE}`
const forgetting = (ns: string, before: number): Statement[] => [
  [
    `DELETE FROM labels WHERE (ns, name, value, ended, job) IN (
      SELECT ends.ns, label.key, label.value, ends.ended, ends.job FROM ends, json_each(ends.labels) AS label
      WHERE ends.rowid IN (${FORGET_SLICE}))`,
    ns,
    before,
  ],
  [`DELETE FROM ends WHERE rowid IN (${FORGET_SLICE})`, ns, before],
  [
    `DELETE FROM runs WHERE (ns, job, ended, started) IN (
      SELECT ns, job, ended, started FROM runs INDEXED BY runs_time WHERE ns = ?1 AND ended < ?2 LIMIT ${SLICE})`,
    ns,
    before,
  ],
]

/** @example createHistoryStore(d1Database(env.HISTORY)) */
export function createHistoryStore(db: SqlDatabase) {
  let isReady = false
  async function ready(): Promise<SqlDatabase> {
    if (!isReady) await migrate(db)
    isReady = true
    return db
  }

  async function edgeOf(ns: string, filter: HistoryFilter): Promise<{ ended: number; job: number } | undefined> {
    const { from, where, values } = orderOf(ns, filter)
    const [row] = await db.all([
      `SELECT ended, job FROM ${from} WHERE ${where} ORDER BY ended DESC, job DESC LIMIT 1 OFFSET ${WINDOW - 1}`,
      ...values,
    ])
    return row && { ended: Number(row.ended), job: Number(row.job) }
  }

  return {
    /** A repeated call does not change stored rows. */
    async write(ns: string, { ends, runs }: { ends: readonly EndRow[]; runs: readonly RunRow[] }) {
      const statements: Statement[] = []
      for (const chunk of chunks(jsonOf(ends, endColumns))) statements.push([INSERT_ENDS, ns, chunk])
      const labelled = ends.filter(({ labels }) => labels !== null)
      for (const chunk of chunks(jsonOf(labelled, endColumns))) statements.push([INSERT_LABELS, ns, chunk])
      for (const chunk of chunks(jsonOf(runs, runColumns))) statements.push([INSERT_RUNS, ns, chunk])
      if (statements.length > 0) await (await ready()).batch(statements)
    },

    /** Returns the latest end first. */
    async list(ns: string, filter: HistoryFilter): Promise<HistoryPage> {
      await ready()
      const edge = await edgeOf(ns, filter)
      const { from, where, values } = orderOf(ns, filter, edge)
      const rest = clausesOf(filter, values.length)
      const limit = filter.limit ?? 50
      const rows = (await db.all([
        `SELECT ends.* FROM ${from} ${rest.join} WHERE ${[where, ...rest.where].join(' AND ')} ORDER BY ${from.split(' ')[0]}.ended DESC, ${from.split(' ')[0]}.job DESC LIMIT ${limit + 1}`,
        ...values,
        ...rest.values,
      ])) as EndRow[]
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      if (rows.length > limit && last)
        return { rows: page, cursor: `${last.ended}.${last.job}`, searchedTo: Number(last.ended) }
      return edge
        ? { rows: page, cursor: `${edge.ended}.${edge.job}`, searchedTo: edge.ended }
        : { rows: page, cursor: null }
    },

    async get(ns: string, job: number): Promise<{ ends: EndRow[]; runs: RunRow[] }> {
      await ready()
      const [ends, runs] = await Promise.all([
        db.all(['SELECT * FROM ends WHERE ns = ? AND job = ? ORDER BY ended DESC LIMIT 100', ns, job]),
        db.all([
          `SELECT * FROM runs WHERE ns = ? AND job = ? ORDER BY ended DESC, started DESC LIMIT ${RUNS}`,
          ns,
          job,
        ]),
      ])
      return { ends: ends as EndRow[], runs: runs as RunRow[] }
    },

    async forget(ns: string, before: number): Promise<boolean> {
      await ready()
      const rows = await db.all([
        'SELECT 1 FROM ends WHERE ns = ?1 AND ended < ?2 UNION ALL SELECT 1 FROM runs WHERE ns = ?1 AND ended < ?2 LIMIT 1',
        ns,
        before,
      ])
      if (rows.length === 0) return false
      await db.batch(forgetting(ns, before))
      return true
    },

    /** The query sees the rows of all namespaces. */
    async sql(text: string, limit: number) {
      return readWith(await ready(), text, limit)
    },
  }
}

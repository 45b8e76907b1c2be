import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { SqlDatabase, SqlRow, Statement } from './database.ts'
import { readElsewhere } from './sqlite-reader.ts'

const SETTINGS = 'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000'

/** @example createHistoryStore(sqliteDatabase('.sidejob/history.sqlite')) */
export function sqliteDatabase(file: string): SqlDatabase & { close: () => void } {
  const db = new DatabaseSync(file)
  db.exec(SETTINGS)
  const known = new Map<string, StatementSync>()
  function prepared(text: string): StatementSync {
    const found = known.get(text) ?? db.prepare(text)
    known.set(text, found)
    return found
  }
  return {
    all: async ([text, ...values]) => prepared(text).all(...values) as SqlRow[],
    ...(file !== ':memory:' && { read: (text: string) => readElsewhere(file, text) }),
    async batch(statements: readonly Statement[]) {
      db.exec('BEGIN IMMEDIATE')
      try {
        for (const [text, ...values] of statements) prepared(text).run(...values)
        db.exec('COMMIT')
      } catch (error) {
        db.exec('ROLLBACK')
        throw error
      }
    },
    close: () => db.close(),
  }
}

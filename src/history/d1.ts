import type { SqlDatabase, SqlRow, Statement } from './database.ts'

type Prepared = { bind: (...values: unknown[]) => Prepared; all: () => Promise<{ results: unknown[] }> }

/** The part of Cloudflare's `D1Database` that the history uses. */
export type D1 = { prepare: (text: string) => Prepared; batch: (statements: never[]) => Promise<unknown> }

/** @example createHistoryStore(d1Database(env.HISTORY)) */
export function d1Database(binding: D1): SqlDatabase {
  const prepared = ([text, ...values]: Statement): Prepared => binding.prepare(text).bind(...values)
  return {
    all: async (statement) => (await prepared(statement).all()).results as SqlRow[],
    async batch(statements) {
      await binding.batch(statements.map(prepared) as never[])
    },
  }
}

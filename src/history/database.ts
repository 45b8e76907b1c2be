export type SqlValue = string | number | null
export type Statement = readonly [text: string, ...values: SqlValue[]]
export type SqlRow = Record<string, SqlValue>

export type SqlDatabase = {
  all: (statement: Statement) => Promise<SqlRow[]>
  /** Reads with a read-only connection that has a time limit, if the database supports it. */
  read?: (text: string) => Promise<SqlRow[]>
  /** Runs all of them or none. */
  batch: (statements: readonly Statement[]) => Promise<void>
}

export type SqlValue = string | number | null
export type Statement = readonly [text: string, ...values: SqlValue[]]
export type SqlRow = Record<string, SqlValue>

export type SqlDatabase = {
  all: (statement: Statement) => Promise<SqlRow[]>
  /** Uses a read-only connection with a time limit, if the database supports it. */
  read?: (text: string) => Promise<SqlRow[]>
  /** Runs all statements or none. */
  batch: (statements: readonly Statement[]) => Promise<void>
}

export type SqlValue = string | number | null
export type Statement = readonly [text: string, ...values: SqlValue[]]
export type SqlRow = Record<string, SqlValue>

export type SqlDatabase = {
  all: (statement: Statement) => Promise<SqlRow[]>
  /** Runs all of them or none. */
  batch: (statements: readonly Statement[]) => Promise<void>
}

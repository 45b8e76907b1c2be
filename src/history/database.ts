export type SqlValue = string | number | null
export type Statement = readonly [text: string, ...values: SqlValue[]]
export type SqlRow = Record<string, SqlValue>

export type SqlDatabase = {
  all: (statement: Statement) => Promise<SqlRow[]>
  /** Reads with a connection that cannot write and has a time limit, if the database has such. */
  read?: (text: string) => Promise<SqlRow[]>
  /** Runs all of them or none. */
  batch: (statements: readonly Statement[]) => Promise<void>
}

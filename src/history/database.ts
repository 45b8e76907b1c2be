export type SqlValue = string | number | null
export type Statement = readonly [text: string, ...values: SqlValue[]]
export type SqlRow = Record<string, SqlValue>

export type SqlDatabase = {
  all: (statement: Statement) => Promise<SqlRow[]>
  read?: (text: string) => Promise<SqlRow[]>
  batch: (statements: readonly Statement[]) => Promise<void>
}

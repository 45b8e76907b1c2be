export function neighbours<Row>(rows: readonly Row[], keyOf: (row: Row) => string): [Row, ...Row[]][] {
  const starts = rows.flatMap((row, i) => (i > 0 && keyOf(row) === keyOf(rows[i - 1]!) ? [] : i))
  return starts.map((start, i) => rows.slice(start, starts[i + 1]) as [Row, ...Row[]])
}

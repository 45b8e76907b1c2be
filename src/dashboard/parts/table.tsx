import type { Child } from 'hono/jsx'
import { Empty } from './layout.tsx'

const kindOfHead = (name: Child): string | undefined =>
  typeof name !== 'string' || !name.startsWith('#') ? undefined : name.startsWith('##') ? 'num wide' : 'num'

/**
 * An element must be a whole cell. A string may begin with `#` (a column of numbers), `##` (a column of numbers that
 * phones hide), or `-` (a name that only screen readers read).
 */
function HeadCell({ name }: { name: Child }) {
  if (typeof name !== 'string') return <>{name}</>
  if (name.startsWith('-'))
    return (
      <th scope="col">
        <span class="vh">{name.slice(1)}</span>
      </th>
    )
  return (
    <th scope="col" class={kindOfHead(name)}>
      {name.replace(/^##?/, '')}
    </th>
  )
}

type TableProps = {
  caption: Child
  heads: readonly Child[]
  isPlain?: boolean
  kind?: string
  id?: string
  grows?: boolean
  children?: Child
}

export function Table({ caption, heads, isPlain, kind, id, grows, children }: TableProps) {
  return (
    <table class={kind ? `tbl ${kind}` : 'tbl'}>
      <caption class="vh">{caption}</caption>
      <thead class={isPlain ? 'vh' : undefined}>
        <tr>
          {heads.map((name) => (
            <HeadCell name={name} />
          ))}
        </tr>
      </thead>
      <tbody id={id} data-found={grows && ''}>
        {children}
      </tbody>
      {grows && <tbody id="older" data-older data-island />}
    </table>
  )
}

export type Column<Row> = {
  head: Child
  kind?: string | ((row: Row) => string)
  /** Text before the cell on phones. True means the head in lower case, which is the default for numbers. */
  label?: boolean | string | ((row: Row) => string | undefined)
  title?: (row: Row) => string | undefined
  cell: (row: Row, i: number) => Child
}

type DataTableProps<Row> = Omit<TableProps, 'heads' | 'children'> & {
  rows: readonly Row[]
  columns: readonly Column<Row>[]
  empty?: Child
  idOf?: (row: Row) => string | number
  isList?: boolean
}

function labelOf<Row>({ head, label = kindOfHead(head) === 'num' }: Column<Row>, row: Row): string | undefined {
  if (label === true) return String(head).replace('#', '').toLowerCase()
  return (typeof label === 'function' ? label(row) : label) || undefined
}

function Cell<Row>({ column, row, i }: { column: Column<Row>; row: Row; i: number }) {
  const { head, kind, title, cell } = column
  const shown = cell(row, i)
  const ownKind = typeof kind === 'function' ? kind(row) : kind
  const classes = [kindOfHead(head), ownKind, shown === '–' && 'dimmer'].filter(Boolean).join(' ')
  return (
    <td class={classes || undefined} data-head={labelOf(column, row)} title={title?.(row)}>
      {shown}
    </td>
  )
}

export function DataTable<Row>({ rows, columns, empty, idOf, isList, ...table }: DataTableProps<Row>) {
  if (empty && rows.length === 0) return <Empty>{empty}</Empty>
  return (
    <Table {...table} heads={columns.map(({ head }) => head)}>
      {rows.map((row, i) => (
        <tr data-row={isList && idOf?.(row)} id={idOf && `row-${idOf(row)}`}>
          {columns.map((column) => (
            <Cell column={column} row={row} i={i} />
          ))}
        </tr>
      ))}
    </Table>
  )
}

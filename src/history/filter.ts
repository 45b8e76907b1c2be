// A query uses the index of one condition, whose rows are in the order of the list. The other conditions filter these
// rows.

import type { SqlValue } from './database.ts'

export type HistoryFilter = {
  status?: string | readonly string[]
  queue?: string
  class?: string
  group?: string
  tag?: string
  error?: string
  parent?: number
  labels?: Record<string, string>
  args?: Record<string, string>
  text?: string
  version?: string
  since?: number
  until?: number
  /** In milliseconds. */
  longer?: number
  cursor?: string
  limit?: number
}

type Clauses = { from: string; where: string; values: SqlValue[] }

/** `given`: number of earlier parameters of the query. */
function conditions(given = 0) {
  const where: string[] = []
  const values: SqlValue[] = []
  const add = (text: string, ...bounds: SqlValue[]): void => {
    where.push(text.replace(/\?/g, () => `?${given + values.push(bounds.shift()!)}`))
  }
  return { where, values, add }
}

type Order = { from: string; on: Record<string, SqlValue>; also?: string }

const statusesOf = ({ status }: HistoryFilter): readonly string[] =>
  status === undefined ? [] : typeof status === 'string' ? [status] : status

function indexOf(filter: HistoryFilter): Order {
  const [label] = Object.entries(filter.labels ?? {})
  const statuses = statusesOf(filter)
  if (label) return { from: 'labels', on: { name: label[0], value: label[1] } }
  if (filter.error !== undefined) return { from: 'ends INDEXED BY ends_error', on: { error_kind: filter.error } }
  if (statuses.length === 1 && statuses[0] !== 'completed')
    return { from: 'ends INDEXED BY ends_status', on: { status: statuses[0]! }, also: "status <> 'completed'" }
  if (filter.class !== undefined) return { from: 'ends INDEXED BY ends_class', on: { class: filter.class } }
  if (filter.queue !== undefined) return { from: 'ends INDEXED BY ends_queue', on: { queue: filter.queue } }
  return { from: 'ends INDEXED BY ends_time', on: {} }
}

export function orderOf(ns: string, filter: HistoryFilter, edge?: { ended: number; job: number }): Clauses {
  const { from, on, also } = indexOf(filter)
  const [table] = from.split(' ') as [string]
  const { where, values, add } = conditions()
  for (const [name, value] of Object.entries({ ns, ...on })) add(`${table}.${name} = ?`, value)
  if (also) where.push(also)
  const place = `(${table}.ended, ${table}.job)`
  const [ended, job] = (filter.cursor ?? '').split('.').map(Number)
  if (filter.cursor !== undefined) add(`${place} < (?, ?)`, ended!, job!)
  if (edge) add(`${place} >= (?, ?)`, edge.ended, edge.job)
  if (filter.since !== undefined) add(`${table}.ended >= ?`, filter.since)
  if (filter.until !== undefined) add(`${table}.ended < ?`, filter.until)
  return { from, where: where.join(' AND '), values }
}

/** `order.id` becomes `$."order"."id"`. */
const pathOf = (path: string): string =>
  `$${path
    .split('.')
    .map((name) => (/^\d+$/.test(name) ? `[${name}]` : `."${name.replaceAll('"', '')}"`))
    .join('')}`

/** Numbers, true, false and null are compared as JSON text. */
const ARG = `CASE WHEN json_valid(ends.args) THEN CASE json_type(ends.args, ?) WHEN 'true' THEN 'true'
  WHEN 'false' THEN 'false' WHEN 'null' THEN 'null' ELSE CAST(json_extract(ends.args, ?) AS TEXT) END END = ?`

export function clausesOf(filter: HistoryFilter, given: number): { join: string; where: string[]; values: SqlValue[] } {
  const { where, values, add } = conditions(given)
  const statuses = statusesOf(filter)
  if (statuses.length > 0) add(`ends.status IN (${statuses.map(() => '?').join(', ')})`, ...statuses)
  const { group, longer } = filter
  const equal = {
    queue: filter.queue,
    class: filter.class,
    grp: group,
    tag: filter.tag,
    error_kind: filter.error,
    parent: filter.parent,
    version: filter.version,
  }
  for (const [name, value] of Object.entries(equal)) if (value !== undefined) add(`ends.${name} = ?`, value)
  if (longer !== undefined) add('ends.took >= ?', longer)
  for (const [name, value] of Object.entries(filter.labels ?? {})) add('ends.labels ->> ? = ?', `$."${name}"`, value)
  for (const [path, value] of Object.entries(filter.args ?? {})) add(ARG, pathOf(path), pathOf(path), value)
  if (filter.text !== undefined) {
    const text = filter.text.toLowerCase()
    add(`(instr(lower(ends.error_text), ?) > 0 OR instr(lower(ends.args), ?) > 0)`, text, text)
  }
  const join =
    filter.labels && Object.keys(filter.labels).length > 0
      ? 'CROSS JOIN ends ON ends.ns = labels.ns AND ends.job = labels.job AND ends.ended = labels.ended'
      : ''
  return { join, where, values }
}

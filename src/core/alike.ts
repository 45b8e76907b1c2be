// Many objects of which most differ from the one before in few members only: what was found out about the first holds for all.

import type * as z from 'zod'
import { override, type Parse } from './override.ts'

/**
 * Whether two objects have the same members with the same values, but for some.
 *
 * @example isAlikeBut(['args'], { class: 'zip', args: '1' }, { class: 'zip', args: '2' }) // true
 */
export function isAlikeBut<T extends object>(members: readonly (keyof T & string)[], one: T, other: T): boolean {
  let shared = 0
  for (const name in other) {
    const value = one[name]
    const isThere = value !== undefined || name in one
    if (!(isThere && value === other[name]) && !members.includes(name)) return false
    if (isThere) shared++
  }
  // Nearly always that was all of it: to count names takes a third of what it takes to look for each.
  for (const _ in one) shared--
  if (shared === 0) return true
  for (const name in one) if (!(name in other) && !members.includes(name)) return false
  return true
}

type Row = Record<string, unknown>

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)

type Context = Parameters<Parse>[1]

/** A value as a schema has it; undefined where it is at fault. */
function soundValue(schema: z.core.$ZodType, value: unknown, context: Context): unknown {
  const found = schema._zod.run({ value, issues: [] }, context)
  return found instanceof Promise || found.issues.length > 0 ? undefined : found.value
}

/**
 * The same schema of an array, for objects that are mostly alike but for some members: only those are checked where they
 * are. Of a bulk request's time in the Worker checking was a quarter. Checks of the whole object must not look at them.
 *
 * @example alike(z.array(jobInput), ['args'])
 */
export function alike<Item extends z.ZodObject>(
  schema: z.ZodArray<Item>,
  members: readonly string[],
): z.ZodArray<Item> {
  const full = override(schema, parse)
  const { element } = schema

  const soundRow = (row: unknown, context: Context) => soundValue(element, row, context) as Row | undefined

  /** What is checked of a row: all of it, or the members that the one before has too, with other values. */
  function checked(row: unknown, before: Row | undefined, last: Row, context: Context): Row | undefined {
    if (!before || !isRow(row) || !isAlikeBut(members, row, before)) return soundRow(row, context)
    const like = { ...last }
    for (const member of members) {
      const isThere = member in row
      if (isThere !== member in before) return soundRow(row, context)
      if (!isThere) continue
      const value = soundValue(element.shape[member]!, row[member], context)
      if (value === undefined) return undefined
      like[member] = value
    }
    return like
  }

  function parse(...[payload, context]: Parameters<Parse>): ReturnType<Parse> {
    const rows = payload.value
    if (!Array.isArray(rows)) return full(payload, context)
    const all: Row[] = []
    for (const [i, row] of rows.entries()) {
      const found = checked(row, rows[i - 1] as Row | undefined, all[i - 1] ?? {}, context)
      // Whoever is at fault hears it in the words of the whole schema.
      if (found === undefined) return full(payload, context)
      all.push(found)
    }
    payload.value = all
    return payload
  }
  return schema
}

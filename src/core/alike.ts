// Many objects of which most differ from the one before in one member only: what was found out about the first holds for all.

import type * as z from 'zod'
import { override, type Parse } from './override.ts'

/**
 * Whether two objects have the same members with the same values, but for one member.
 *
 * @example isAlikeBut('args', { class: 'zip', args: '1' }, { class: 'zip', args: '2' }) // true
 */
export function isAlikeBut<T extends object>(member: keyof T & string, one: T, other: T): boolean {
  let others = 0
  for (const name in other) if (name !== member) others++
  for (const name in one) {
    if (name === member) continue
    if (!(name in other) || one[name] !== other[name]) return false
    others--
  }
  return others === 0
}

type Row = Record<string, unknown>

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The same schema of an array, for objects that are mostly alike but for one member: only that one is checked where they
 * are. Of a bulk request's time in the Worker checking was a quarter. Checks of the whole object must not look at it.
 *
 * @example alike(z.array(jobInput), 'args')
 */
export function alike<Item extends z.ZodObject>(schema: z.ZodArray<Item>, member: string): z.ZodArray<Item> {
  const full = override(schema, parse)
  const { element } = schema
  const own = element.shape[member]!

  function parse(...[payload, context]: Parameters<Parse>): ReturnType<Parse> {
    const rows = payload.value
    if (!Array.isArray(rows)) return full(payload, context)
    const checked: unknown[] = []
    let before: Row | undefined
    let last: Row = {}
    for (const row of rows) {
      const like = before && isRow(row) && member in row && member in before && isAlikeBut(member, row, before)
      const [asked, value] = like ? [own, row[member]] : [element, row]
      const found = asked._zod.run({ value, issues: [] }, context)
      // Whoever is at fault hears it in the words of the whole schema.
      if (found instanceof Promise || found.issues.length > 0) return full(payload, context)
      last = like ? { ...last, [member]: found.value } : (found.value as Row)
      before = row
      checked.push(last)
    }
    payload.value = checked
    return payload
  }
  return schema
}

import type * as z from 'zod'
import { isObject } from './is-object.ts'

export function isAlikeBut<T extends object>(members: readonly (keyof T & string)[], one: T, other: T): boolean {
  let shared = 0
  for (const name in other) {
    const value = one[name]
    const isThere = value !== undefined || name in one
    if (!(isThere && value === other[name]) && !members.includes(name)) return false
    if (isThere) shared++
  }
  // Usually both objects have the same members. Counting members is three times as fast as looking up each member.
  for (const _ in one) shared--
  if (shared === 0) return true
  for (const name in one) if (!(name in other) && !members.includes(name)) return false
  return true
}

type Row = Record<string, unknown>

type QuickParse = (value: unknown) => unknown

export const quickParses = new WeakMap<z.ZodType, QuickParse>()

type Likeness = {
  by: string
  /** Members that may differ: optional members without a default, which no check of the whole object reads. */
  members: readonly string[]
  most: number
}

type Example = { row: Row; parsed: Row; rest: Row }

/** In a list of similar objects, only the members that differ from an earlier object are parsed again. */
export function alike(item: z.ZodObject, { by, members, most }: Likeness): QuickParse {
  const schemas = members.map((member) => [member, item.shape[member]! as z.ZodType] as const)

  function exampleOf(row: Row): Example | undefined {
    const parsed = item.safeParse(row).data
    if (!parsed) return undefined
    const rest = Object.fromEntries(Object.entries(parsed).filter(([name]) => !members.includes(name)))
    return { row, parsed, rest }
  }

  function parseLike(row: Row, { row: like, parsed, rest }: Example): Row | undefined {
    const made = { ...rest }
    for (const [member, schema] of schemas) {
      if (!(member in row)) continue
      if (row[member] === like[member]) {
        made[member] = parsed[member]
        continue
      }
      const { success, data } = schema.safeParse(row[member])
      if (!success) return undefined
      made[member] = data
    }
    return made
  }

  return (rows) => {
    if (!Array.isArray(rows) || rows.length === 0 || rows.length > most) return undefined
    const examples = new Map<unknown, Example>()
    const all: Row[] = []
    for (const row of rows) {
      if (!isObject(row)) return undefined
      let example = examples.get(row[by])
      const isLike = example !== undefined && isAlikeBut(members, row, example.row)
      if (!isLike) example = exampleOf(row)
      if (!example) return undefined
      examples.set(row[by], example)
      const parsed = isLike ? parseLike(row, example) : example.parsed
      if (!parsed) return undefined
      all.push(parsed)
    }
    return all
  }
}

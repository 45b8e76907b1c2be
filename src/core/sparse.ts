// Makes zod check only present members.

import * as z from 'zod'
import { override, type Parse } from './override.ts'

/** Maximum number of remembered sets of members; objects beyond it are checked without this shortcut. */
const KINDS = 1_000

/**
 * The same schema, for objects of which most members are mostly absent. Without compiled code, which Workers do not
 * allow, zod asks for every optional member: of a job's 22, some 20 that are not there, a fifth of a bulk request.
 *
 * @example const jobInput = sparse(z.strictObject({ class: className, priority: priority.optional(), … }))
 */
export function sparse<Schema extends z.ZodObject>(schema: Schema): Schema {
  const full = override(schema, parse)
  const members = Object.entries(schema.shape)
  const bit = new Map(members.map(([name], i) => [name, i]))
  const kinds = new Map<number, Parse>()

  function parseOf(kind: number): Parse {
    const there = members.filter(([name, { _zod }]) => {
      const isOptional = _zod.optin === 'optional' && _zod.optout === 'optional'
      return !isOptional || kind & (1 << bit.get(name)!)
    })
    return z.strictObject(Object.fromEntries(there))._zod.parse
  }

  function parse(...[payload, context]: Parameters<Parse>): ReturnType<Parse> {
    const { value } = payload
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return full(payload, context)
    let kind = 0
    for (const name in value) kind |= 1 << (bit.get(name) ?? 31)
    let lean = kinds.get(kind)
    if (!lean) {
      lean = kinds.size < KINDS ? parseOf(kind) : full
      if (kinds.size < KINDS) kinds.set(kind, lean)
    }
    return lean(payload, context)
  }
  return schema
}

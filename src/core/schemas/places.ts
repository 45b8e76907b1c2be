import type * as z from 'zod'
import { CLOSED, type Closed, each, list, OPEN } from '../codec/json.ts'
import { closed, moment, span } from './values.ts'

export type Places = 'closed' | 'moment' | 'span' | { members?: Record<string, Places>; each?: Places; items?: Places }

export const places = (schema: z.ZodType): Places | undefined => {
  // `meta` copies a schema, but not its definition.
  const isCopyOf = (other: z.ZodType): boolean => schema.def === other.def
  if (isCopyOf(closed)) return 'closed'
  if (isCopyOf(moment)) return 'moment'
  if (isCopyOf(span)) return 'span'
  const def = schema.def as unknown as Def
  switch (def.type) {
    case 'object':
      return members(def.shape)
    case 'record':
      return below('each', def.valueType)
    case 'array':
      return below('items', def.element)
    case 'union':
      return def.options.map(places).reduce(overlay, undefined)
    case 'pipe':
      return places(def.in)
    default:
      return def.innerType && places(def.innerType)
  }
}

type Def =
  | { type: 'object'; shape: Record<string, z.ZodType> }
  | { type: 'record'; valueType: z.ZodType }
  | { type: 'array'; element: z.ZodType }
  | { type: 'union'; options: z.ZodType[] }
  | { type: 'pipe'; in: z.ZodType }
  | { type: 'optional' | 'nullable' | 'default'; innerType?: z.ZodType }

export const closedIn = (schema: z.ZodType): Closed => pattern(places(schema))

const pattern = (place: Places | undefined): Closed => {
  if (place === 'closed') return CLOSED
  if (place === undefined || typeof place === 'string') return OPEN
  const named = Object.entries(place.members ?? {}).map(([name, below]) => [name, pattern(below)])
  return {
    ...Object.fromEntries(named),
    ...(place.each && each(pattern(place.each))),
    ...(place.items && list(pattern(place.items))),
  }
}

const members = (shape: Record<string, z.ZodType>): Places | undefined => {
  const found = Object.entries(shape).flatMap(([name, schema]) => {
    const place = places(schema)
    return place ? [[name, place] as const] : []
  })
  return found.length > 0 ? { members: Object.fromEntries(found) } : undefined
}

const below = (where: 'each' | 'items', schema: z.ZodType): Places | undefined => {
  const place = places(schema)
  return place && { [where]: place }
}

const overlay = (a: Places | undefined, b: Places | undefined): Places | undefined => {
  if (!a || !b || a === b) return a ?? b
  if (typeof a === 'string' || typeof b === 'string')
    throw new Error('expected a union whose options all encode a value in the same way')
  const names = new Set([...Object.keys(a.members ?? {}), ...Object.keys(b.members ?? {})])
  return {
    members: Object.fromEntries([...names].map((name) => [name, overlay(a.members?.[name], b.members?.[name])!])),
    each: overlay(a.each, b.each),
    items: overlay(a.items, b.items),
  }
}

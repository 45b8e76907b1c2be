// Schemas of our own functions: checked as zod does, and told to others as JSON Schema.

import * as z from 'zod'
import { type Encoded, encodeValue } from '../codec/value.ts'
import { faultOf } from '../issues.ts'
import { type Check, most } from './index.ts'

/** What zod finds wrong, in our own words. What it cannot say without waiting the run that reads the value will say. */
export const zodCheck =
  (schema: z.ZodType): Check =>
  (value) => {
    try {
      return faultOf(schema, value)
    } catch {
      return undefined
    }
  }

/** A schema as others read it; nothing where JSON Schema cannot say it, or not shortly. */
export function jsonSchemaOf(schema: z.ZodType | undefined): Encoded | undefined {
  if (!schema) return undefined
  try {
    const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
    const text = encodeValue(rest)
    return text.length > most.bytes ? undefined : text
  } catch {
    return undefined
  }
}

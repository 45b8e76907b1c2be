import * as z from 'zod'
import { type Encoded, encodeValue } from '../codec/value.ts'
import { parsedBy } from '../issues.ts'
import type { Check } from './index.ts'
import { most } from './schema.ts'

/** A schema with asynchronous checks accepts all values here, because only a run can perform such checks. */
export const zodCheck =
  (schema: z.ZodType): Check =>
  (value) => {
    try {
      return parsedBy(schema, value).fault
    } catch {
      return undefined
    }
  }

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

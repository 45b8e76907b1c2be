// Puts a faster way of checking before zod's own.

import type * as z from 'zod'

export type Parse = z.ZodType['_zod']['parse']

/** Lets a schema, which must have checks of its own, be parsed by this; answers how it was parsed before. */
export function override(schema: z.ZodType, parse: Parse): Parse {
  const full = schema._zod.parse
  schema._zod.parse = parse
  return (payload, context) => {
    const answer = full(payload, context)
    // On the first call zod removes its own wrapper, and with it the replacement.
    schema._zod.parse = parse
    return answer
  }
}

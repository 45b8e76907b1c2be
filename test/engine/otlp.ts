// The JSON that receivers of OTLP 1.0 accept over HTTP. Unknown members are refused, so that typos are found.

import * as z from 'zod'

const hex = (bytes: number) => z.string().regex(new RegExp(`^(?!0+$)[0-9a-f]{${bytes * 2}}$`))
const nano = z.string().regex(/^\d{18,20}$/)

const value = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
  z.strictObject({ doubleValue: z.number() }),
])
const attributes = z.array(z.strictObject({ key: z.string().min(1), value }))

const span = z
  .strictObject({
    traceId: hex(16),
    spanId: hex(8),
    parentSpanId: hex(8).optional(),
    name: z.string().min(1),
    kind: z.int().min(1).max(5),
    startTimeUnixNano: nano,
    endTimeUnixNano: nano,
    attributes,
    events: z.array(z.strictObject({ timeUnixNano: nano, name: z.string(), attributes })).optional(),
    links: z.array(z.strictObject({ traceId: hex(16), spanId: hex(8) })).optional(),
    status: z.strictObject({ code: z.int().min(0).max(2), message: z.string() }).optional(),
  })
  .refine(({ startTimeUnixNano: start, endTimeUnixNano: end }) => BigInt(start) <= BigInt(end))
export type SentSpan = z.output<typeof span>

export const otlpRequest = z.strictObject({
  resourceSpans: z
    .array(
      z.strictObject({
        resource: z.strictObject({ attributes }),
        scopeSpans: z
          .array(z.strictObject({ scope: z.strictObject({ name: z.string() }), spans: z.array(span).min(1) }))
          .min(1),
      }),
    )
    .min(1),
})

import * as z from 'zod'
import { fromBase64 } from '../../core/codec/base64.ts'
import { decodeValue, type Encoded } from '../../core/codec/value.ts'
import { className, closed, httpUrl } from '../../core/schemas.ts'

const isJsonInteger = (text: string): boolean => /^-?\d+$/.test(text)

// MessagePack encodes 1.0 as a float, so the first byte shows whether a number is an integer.
const isMsgpackInteger = ([first = 0]: Uint8Array): boolean =>
  first <= 0x7f || first >= 0xe0 || (first >= 0xcc && first <= 0xd3)

const isInteger = (wire: Encoded): boolean =>
  wire.startsWith('~') ? isMsgpackInteger(fromBase64(wire.slice(1))) : isJsonInteger(wire)

/** Refuses floats, even 1.0. */
const integer = (least: number, most: number) =>
  closed
    .transform((wire, ctx) => {
      const n = isInteger(wire) ? Number(decodeValue(wire)) : Number.NaN
      if (n >= least && n <= most) return n
      ctx.addIssue({ code: 'custom', message: `expected an integer from ${least} to ${most}` })
      return z.NEVER
    })
    .describe(`an integer from ${least} to ${most}`)

/** In seconds. */
const SHORTEST = 0.001
const LONGEST = 86_400
const DEFAULT_TIMEOUT = 30

export const pushed = z.object({
  name: className,
  argument: closed,
  priority: integer(-(2 ** 31), 2 ** 31 - 1).optional(),
  max_retry: integer(0, 1_000_000).optional(),
  keep_result: z.boolean().optional(),
  /** In seconds. */
  timeout: z.number().min(SHORTEST).max(LONGEST).optional(),
})

export const timeoutOf = (seconds: number = DEFAULT_TIMEOUT): number => Math.round(seconds * 1000)

export const worker = z.object({
  url: httpUrl,
  secret: z.string().min(1).max(255).optional(),
})

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])
const conditions = z.record(z.string().min(1).max(255), scalar)

/** Periods are in seconds. */
export const constraint = z.object({
  match: z.object({
    name: z.string().max(255).optional(),
    argument: conditions.optional(),
    parameter: conditions.optional(),
  }),
  rate: z.object({ limit: z.int().min(1).max(1_000_000), period: z.number().min(SHORTEST) }).optional(),
  concurrency: z.int().min(1).max(1_000_000).optional(),
})

export const failure = z.object({ error: z.string(), message: z.string() })
export const made = z.object({ id: z.string() })
export const pending = z.object({ state: z.string() })

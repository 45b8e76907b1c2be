import * as z from 'zod'
import { type Encoded, encodedSize } from '../codec/value.ts'
import { type Code, SidejobError } from '../errors.ts'
import { limits } from '../limits.ts'
import { durationText, duration as readDuration, milliseconds as readMilliseconds, time as readTime } from '../time.ts'
import { ruleOf } from './at-most.ts'

/** In bytes. */
const VALUE = 1024 * 1024

// Short values are not measured, because measuring is slow, and a UTF-16 unit has at most 3 bytes in UTF-8.
const isSmall = (wire: Encoded) => wire.length * 3 <= VALUE || encodedSize(wire) <= VALUE

export const closed = z.string('is missing').refine(isSmall, {
  error: 'expected a value of at most 1 MiB',
  params: { code: 'TOO_LARGE' satisfies Code },
}) as unknown as z.ZodType<Encoded, unknown>

/** Milliseconds since 1970 in the engine, ISO 8601 for clients. */
export const moment = z.iso.datetime() as unknown as z.ZodType<number, string>

/** Milliseconds in the engine, seconds for clients. */
export const span = z.number().describe('seconds')

const read = (parse: (given: number | string) => number) => (given: number | string, ctx: z.RefinementCtx) => {
  try {
    return parse(given)
  } catch (error) {
    if (!(error instanceof SidejobError)) throw error
    ctx.addIssue({ code: 'custom', message: error.message })
    return z.NEVER
  }
}

const amount = z.union([z.number(), z.string()], 'expected a number or a string')

export const TIME = 'ISO 8601 with zone, a date (midnight UTC), or epoch milliseconds'
export const time = amount.transform(read(readTime)).describe(TIME)

export const within = (least: number, most: number, expected: string) =>
  ruleOf((ms: number) => ms >= least && ms <= most, expected, durationText)

const bounded = (parse: (given: number | string) => number) =>
  amount.transform(read(parse)).refine(...within(0, limits.durationMs.most, 'at most 10 years'))

export const duration = bounded(readDuration).describe("seconds, or a string like '5m', '1h30m', '3 days'")

export const milliseconds = bounded(readMilliseconds)

export const flag = z
  .enum(['', 'true', 'false', '1', '0'], 'expected true or false')
  .transform((text) => text === '' || text === 'true' || text === '1')

/** The query of a call that can be a dry run. */
export const preview = z.strictObject({ preview: flag.optional() })

const CURSOR = 'expected the cursor of a previous page'

export const cursor = z
  .string()
  .refine((text) => /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)), CURSOR)
  .describe('cursor from the previous page')

export const scanCursor = z
  .string()
  .regex(/^\d{1,20}$/, CURSOR)
  .describe('cursor from the previous page')

export const endedCursor = z.string().regex(/^\d{1,16}\.\d{1,16}\.\d{1,6}$/, CURSOR)

export const logCursor = z.string().regex(/^\d{1,15}-\d{1,15}$/, CURSOR)

export function logCursorAt(entry: string): string | undefined {
  if (!logCursor.safeParse(entry).success) return undefined
  const [ms, n] = entry.split('-') as [string, string]
  return `${ms}-${BigInt(n) + 1n}`
}

export const count = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'expected a whole number')
    .transform(Number)
    .pipe(z.int().min(least).max(most))

const limit = count(1, 1_000).optional()
export const page = { limit, cursor: cursor.optional() }
/** For lists that Redis keeps as a stream. */
export const logPaging = { limit, cursor: logCursor.optional() }

const ABOVE_ZERO = within(1, Infinity, 'a duration above 0')
export const positive = duration.refine(...ABOVE_ZERO)
export const positiveMilliseconds = milliseconds.refine(...ABOVE_ZERO)

export const concurrency = z.int().min(1).max(1_000_000)
const rateOver = <P extends z.ZodType>(period: P) => z.strictObject({ limit: z.int().min(1).max(1_000_000), period })
export const rate = rateOver(positive)
export const codeRate = rateOver(positiveMilliseconds)

/** In milliseconds. lib/queue/order.lua explains the bound. */
export const MAX_AGEING = 3_600_000

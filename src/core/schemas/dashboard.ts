import * as z from 'zod'
import { moment, time } from './values.ts'

const VIEW_QUERY = 2_000

export const viewInput = z.strictObject({
  query: z
    .string()
    .max(VIEW_QUERY)
    .refine((text) => !text.startsWith('?'), 'expected a query string without "?", such as status=failed&queue=media')
    .describe('query string of the jobs page, such as status=failed&queue=media'),
})

export const viewList = z.object({
  views: z.array(z.object({ name: z.string(), query: z.string(), by: z.string(), at: moment })),
})

export const breakerOf = z.enum(['callbacks', 'workers'])

export const breakerList = z.object({
  breakers: z.array(
    z.object({
      host: z.string(),
      of: breakerOf.describe('type of the calls: `callbacks`, or `workers` for runs of push workers'),
      failures: z.int().describe('number of consecutive failures'),
      until: moment,
    }),
  ),
})

const noted = z.object({ by: z.string(), at: moment, reason: z.string().optional() })

export const alertList = z.object({
  alerts: z.array(
    z.object({
      alert: z.string(),
      isOpen: z.boolean(),
      rule: z.string().optional(),
      text: z.string().optional(),
      since: moment.optional(),
      link: z.string().optional(),
      told: moment.nullable().optional().describe('time at which the last message about the alert was sent'),
      acknowledged: noted.optional(),
      muted: noted.extend({ until: moment.optional() }).optional(),
    }),
  ),
})

const REASON = 200

export const alertInput = z.strictObject({
  alert: z.string().min(1).max(300).describe('name of the alert, as listed by GET /v1/alerts, such as `slow mail`'),
  reason: z.string().max(REASON).optional(),
})

export const muteInput = alertInput.extend({
  until: time.optional().describe('end of the mute; if omitted, it never ends'),
})

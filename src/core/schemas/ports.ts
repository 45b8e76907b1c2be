import * as z from 'zod'
import { waitTime } from './job-options.ts'
import { portView } from './job-views.ts'
import { builtAgainst, jobId, MAX_VALUES, portName, ref, values } from './names.ts'
import { closed, moment } from './values.ts'

export const items = z.array(
  z.object({ data: closed, context: closed.optional(), default: z.literal(true).optional() }),
)

export const portLook = portView.extend({ values: items })

export const writeOptions = {
  notify: z.boolean().optional(),
  log: z.boolean().optional(),
  setDefault: z.boolean().optional(),
}

export const portWrite = z
  .strictObject({
    values: values.optional(),
    value: closed.optional(),
    ...writeOptions,
    context: closed.optional(),
    schema: builtAgainst,
  })
  .refine(
    (given) => (given.values === undefined) !== (given.value === undefined),
    'requires either "values" or "value"',
  )
  .meta({ minProperties: 1 })

export const portRead = z.strictObject({
  max: z.int().min(1).max(MAX_VALUES).optional(),
  wait: waitTime
    .optional()
    .describe('maximum time to wait for `max` values; returns fewer if the time runs out or the job ends'),
})

export const target = z.union(
  [z.strictObject({ job: ref, in: portName }), z.strictObject({ job: ref, out: portName })],
  'expected { job, in } or { job, out }',
)

export const keepMessage = z
  .union([z.literal(1), z.literal(0)], 'expected 1 or 0')
  .describe('1 keeps this message as the last message of the channel; 0 deletes the kept message')

export const channelList = z.object({
  channels: z.array(
    z.object({
      name: z.string(),
      subscribers: z.array(z.object({ job: jobId, port: z.string() })),
      publishers: z
        .array(z.object({ queue: z.string(), class: z.string(), port: z.string() }))
        .optional()
        .describe(
          'first 100 output ports that publish on this channel or on a channel below it, by the definitions of their classes. Channels that were set on the port of a single job do not count. Present if publishers=true',
        ),
      last: z
        .object({ at: moment, size: z.int(), message: closed.optional(), context: closed.optional() })
        .optional()
        .describe(
          'last message that was published with `keep: 1`. `size` is in bytes; a message over 4 KiB shows only its size. Present if last=true',
        ),
      rate: z
        .int()
        .optional()
        .describe('estimated number of messages with `keep: 1` in the last 60 seconds. Present if last=true'),
      minutes: z
        .array(z.int())
        .optional()
        .describe(
          'number of messages with `keep: 1` in each of the last ten minutes; the last entry is the current minute. Present if last=true',
        ),
    }),
  ),
  cursor: z
    .string()
    .nullable()
    .describe('cursor of the next page; null on the last page. A page can have fewer channels than requested'),
})

export type ChannelView = z.output<typeof channelList>['channels'][number]

export const logPage = z.object({
  entries: z.array(
    z.object({
      id: z.string(),
      at: moment,
      job: jobId.nullable(),
      entry: closed,
      level: z.string(),
      class: z.string().nullable().describe('class of the job; null if no job wrote the entry'),
    }),
  ),
  cursor: z.string().nullable(),
})

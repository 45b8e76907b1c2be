// The shapes of what comes in and what goes out, each written once: routes, OpenAPI, client and checks use these.
//
// A schema has two sides. Outside (z.input) is what a client writes and reads: any value, ISO times, '5m'. Inside
// (z.output) is what the engine has: closed values, milliseconds. Requests are parsed inward, answers presented outward.

import * as z from 'zod'
import { alike } from './alike.ts'
import { isCallbackGroup } from './callback.ts'
import { CLOSED, type Closed, each, list, OPEN } from './codec/json.ts'
import { type Encoded, wireSize } from './codec/value.ts'
import { type Code, SidejobError } from './errors.ts'
import { isAlias, isId, isPortName, statuses } from './job.ts'
import { limits } from './limits.ts'
import { missedWays } from './repeat.ts'
import { sparse } from './sparse.ts'
import { TENANT } from './tenant.ts'
import { duration as readDuration, time as readTime } from './time.ts'

// Values and times

/** The largest value that a port, a state or an argument holds, in bytes as it came. */
const VALUE = 1024 * 1024

// A character is at most 3 bytes of UTF-8, so that few values have to be counted.
const isSmall = (wire: Encoded) => wire.length * 3 <= VALUE || wireSize(wire) <= VALUE

/** Any value of the user, kept closed: the reader of the body has already cut it out as a wire. */
export const closed = z.string('is missing').refine(isSmall, {
  error: 'expected a value of at most 1 MiB',
  params: { code: 'TOO_LARGE' satisfies Code },
}) as unknown as z.ZodType<Encoded, unknown>

/** A moment in an answer: milliseconds inside, ISO 8601 outside. */
export const moment = z.iso.datetime() as unknown as z.ZodType<number, string>

/** A duration in an answer: milliseconds inside, seconds outside, as a request takes them. */
export const span = z.number().meta({ description: 'seconds' })

const read = (parse: (given: number | string) => number) => (given: number | string, ctx: z.RefinementCtx) => {
  try {
    return parse(given)
  } catch (error) {
    if (!(error instanceof SidejobError)) throw error
    ctx.addIssue({ code: 'custom', message: error.message })
    return z.NEVER
  }
}

const amount = z.union([z.number(), z.string()], 'expected a number or a text')

/** A time in a request: ISO 8601 or epoch milliseconds. */
export const time = amount.transform(read(readTime)).meta({ description: 'ISO 8601 with zone, or epoch milliseconds' })

/** A duration in a request: seconds, or a text with units. */
export const duration = amount
  .transform(read(readDuration))
  .refine((ms) => ms <= limits.durationMs.most, 'expected at most 10 years')
  .meta({ description: "seconds, or a text like '5m', '1h30m', '3 days'" })

/** A yes or no in a query: `?force`, `?force=true`, `?force=false`. */
export const flag = z
  .enum(['', 'true', 'false', '1', '0'], 'expected true or false')
  .transform((text) => text === '' || text === 'true' || text === '1')

const CURSOR = 'expected the cursor of a page before'

/** Where a list goes on: what the page before has answered. */
export const cursor = z
  .string()
  .refine((text) => /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)), CURSOR)
  .meta({ description: 'the cursor that the page before has answered' })

/** Where the log goes on: the id of an entry. */
export const logCursor = z.string().regex(/^\d{1,15}-\d{1,15}$/, CURSOR)

/** A whole number in a query. */
export const count = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'expected a whole number')
    .transform(Number)
    .pipe(z.int().min(least).max(most))

// Names

const CONTROL = /\p{Cc}/u
const encoder = new TextEncoder()

/** Text of 1 to `most` bytes without control characters. */
export const isText = (text: string, most = 255): boolean =>
  text.length > 0 &&
  (text.length * 3 <= most || encoder.encode(text).length <= most) &&
  !CONTROL.test(text) &&
  text.isWellFormed()

const named = (what: string, fits: (text: string) => boolean) =>
  z.string().refine(fits, `expected ${what}`).meta({ description: what })

const TEXT = 'text of at most 255 bytes without control characters'

export const queueName = named(`a queue: ${TEXT}, ":" and "/"`, (text) => isText(text) && !/[:/]/.test(text))
export const className = named(`a class: ${TEXT}`, (text) => isText(text))
export const childName = named(`a name: ${TEXT}`, (text) => isText(text))
const LEVELS = limits.channelLevels.most
export const channelName = named(
  `a channel: ${TEXT}, and at most ${LEVELS} names between slashes`,
  (text) => isText(text) && text.split('/').filter(Boolean).length <= LEVELS,
)
export const label = named(TEXT, (text) => isText(text))
export const processName = named(`a process: ${TEXT}`, (text) => isText(text))
export const alias = named('an alias: begins with a letter, at most 255 long, no control characters', isAlias)
export const portName = named('a port name: a-z, A-Z, 0-9 and _, at most 100 long', isPortName)
const anyPort = named('a port name (a-z, A-Z, 0-9 and _, at most 100 long), or "*"', (text) =>
  text === '*' ? true : isPortName(text),
)

export const dir = z.enum(['in', 'out'])

export const jobId = z.int().min(1)

const isRef = (text: string) => isId(text) || isAlias(text)

const JOB = 'expected a job: its id (a whole number from 1) or an alias'

/** A job in a body: its id or one of its aliases. */
export const ref = z.union([jobId, z.string().refine(isRef, JOB)], JOB).transform(String)

/** A job in a path. What can be no job is simply not there: 404, not 400. */
export const pathRef = z.string().refine(isRef, {
  error: (issue) =>
    `no job is called ${JSON.stringify(issue.input)}: an id is a whole number from 1, an alias begins with a letter`,
  params: { code: 'NOT_FOUND' satisfies Code },
})

const noFile = { error: 'there is no such file', params: { code: 'NOT_FOUND' satisfies Code } }

/** A file's id in a path, and the folder that it lies in. */
export const fileName = z.string().refine((text) => /^[\w-]{14}$/.test(text), noFile)
export const fileFolder = z.string().refine((text) => /^[\w-]{3}$/.test(text), noFile)

export const status = z.enum(statuses)

// Lists that are too long are too large (413), whatever the bytes: they bound the work of one script.
const VALUES = 10_000
export const values = z.array(closed).max(VALUES)
export const channelNames = z.array(channelName).max(1_000)

// Jobs

export const inputs = z
  .record(portName, values)
  .refine((given) => Object.keys(given).length <= limits.ports.most, `expected at most ${limits.ports.most} ports`)

/** Fields of the state by name. */
export const stateFields = z
  .record(label, closed)
  .refine(
    (given) => Object.keys(given).length <= limits.stateFields.most,
    `expected at most ${limits.stateFields.most} fields`,
  )

const portSpec = z.strictObject({ default: closed.optional(), channels: channelNames.optional() })
export const portSpecs = z
  .record(anyPort, portSpec)
  .refine((specs) => Object.keys(specs).length <= limits.ports.most, `expected at most ${limits.ports.most} ports`)

/** How long one call may wait for something. */
export const waitTime = duration.refine(
  (ms) => ms <= limits.waitMs.most,
  `expected at most ${limits.waitMs.most / 1_000} seconds`,
)

const positive = duration.refine((ms) => ms > 0, 'expected a duration above 0')

const backoff = z.union([
  z.strictObject({
    base: duration.optional(),
    factor: z.number().min(1).max(100).optional(),
    cap: duration.optional(),
    jitter: z.number().min(0).max(1).optional(),
    delays: z.array(duration).min(1).max(100).optional(),
  }),
  duration.transform((base) => ({ base })),
])

const history = z
  .int()
  .min(0)
  .max(100)
  .meta({ description: 'how many of its last runs a job keeps, at /v1/jobs/:job/runs' })

const DAY = 86_400_000

const redeliver = z
  .strictObject({
    after: duration.refine((ms) => ms >= 1_000 && ms <= 365 * DAY, 'expected a second to 365 days'),
    max: z.int().min(1).max(1_000).default(10),
  })
  .meta({
    description:
      'how long a pull worker, or a push worker that has answered 202, has a run before it goes to somebody else at once; after `max` runs in a row that nobody answered the job fails',
  })

const retry = z.strictObject({ max: z.int().min(0).max(1_000_000).optional(), backoff: backoff.optional() })

const missed = z.enum(missedWays).meta({
  description:
    'what becomes of slots that went by while nothing ran: `run` runs each, `last` one run for all of them (the default of cron), `skip` none that is more than five minutes late',
})
const stopOnFail = z.boolean().meta({ description: 'whether a run that fails for good ends the schedule' })
const repeatOptions = { missed: missed.optional(), stopOnFail: stopOnFail.optional() }

export const repeat = z.union([
  label,
  z.strictObject({ cron: label, tz: label.optional(), ...repeatOptions }),
  z.strictObject({ bedrock: label, ...repeatOptions }),
])

/** Priorities of 32 bits times this, and a moment, are whole numbers that a double holds. */
const MAX_AGEING = 3_600_000

const priority = z.int32().meta({ description: 'the smallest goes first' })

const concurrency = z.int().min(1).max(1_000_000)
const rate = z.strictObject({ limit: z.int().min(1).max(1_000_000), period: positive })

const debounce = z
  .strictObject({ wait: positive, max: positive.optional() })
  .refine(({ wait, max = wait }) => max >= wait, { error: 'expected at least "wait"', path: ['max'] })
  .meta({
    description:
      'the job begins `wait` after it was last asked for, with the newest args; `max` after it was first asked for at the latest',
  })

const expectOne = (first: 'until' | 'for', second: 'for' | 'debounce') => ({
  error: `expected "${first}" or "${second}", got both`,
  path: [second],
})

/** A key that only one job of a queue and class has: until it has ended, or as said here. */
const unique = z.union([
  label,
  z
    .strictObject({
      key: label,
      until: z.enum(['started', 'ended', 'deleted']).optional(),
      for: positive.optional().meta({ description: 'so long, whatever becomes of the job (a throttle)' }),
      debounce: debounce.optional(),
    })
    .refine((given) => given.until === undefined || given.for === undefined, expectOne('until', 'for'))
    .refine((given) => given.until === undefined || given.debounce === undefined, expectOne('until', 'debounce'))
    .refine((given) => given.for === undefined || given.debounce === undefined, expectOne('for', 'debounce')),
])

/** What says when a job is to run, or what would be lost when it is asked for again. */
const notDebounced = ['at', 'wait', 'repeat', 'inputs'] as const

type Asked = { unique?: z.output<typeof unique> } & { [K in (typeof notDebounced)[number]]?: unknown }

function checkDebounce(given: Asked, ctx: z.RefinementCtx): void {
  if (typeof given.unique !== 'object' || !given.unique.debounce) return
  for (const name of notDebounced)
    if (given[name] !== undefined)
      ctx.addIssue({
        code: 'custom',
        message: `expected "${name}" or unique.debounce, got both`,
        path: [name],
      })
}

/** An aggregation: its name, and how many of its jobs may run at once if it is new. */
const groupId = label.refine((id) => !isCallbackGroup(id), 'expected none of our own groups, callback:…')
const group = z
  .strictObject({ id: groupId, concurrency: concurrency.optional() })
  .meta({ description: 'groups take turns at the limits that they share' })

const notBoth = (given: { at?: number; wait?: number }) => given.at === undefined || given.wait === undefined
const NOT_BOTH = { error: 'expected "at" or "wait", got both', path: ['wait'] }

const isHttp = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

export const httpUrl = z.string().max(2_000).refine(isHttp, 'expected a URL that begins with http:// or https://')

// What the delivery itself says stays ours.
const OWN_HEADERS = /^(host|connection|content-length|content-type|transfer-encoding|webhook-.*)$/i

export const requestHeaders = z.record(
  z.string().regex(/^[!#$%&'*+.^_`|~\w-]{1,100}$/, 'expected the name of a header'),
  z.string().regex(/^[\t\x20-\x7e\x80-\xff]{0,2000}$/, 'expected the value of a header'),
)

const callbackOptions = {
  headers: requestHeaders
    .refine(
      (headers) => !Object.keys(headers).some((name) => OWN_HEADERS.test(name)),
      'expected no header that is ours',
    )
    .optional(),
  secret: z
    .string()
    .regex(/^(whsec_)?[A-Za-z0-9+/]{4,200}={0,2}$/, 'expected whsec_ and base64')
    .optional(),
  /** Delays before the second try, the third, …; in place of the usual ones. */
  retry: z.array(duration).max(50).optional(),
  timeout: positive.refine((ms) => ms <= 30_000, 'expected at most 30 seconds').optional(),
}

/** A topic of Kafka; in a path `.` and `..` would be other places. */
export const topic = z.string().regex(/^(?!\.{1,2}$)[\w.-]{1,249}$/, 'expected a topic')

/** Who is told when a job ends: a webhook, or a topic behind a Kafka REST proxy. */
export const callback = z.union([
  z.strictObject({ url: httpUrl, ...callbackOptions }),
  z.strictObject({
    kafka: z.strictObject({ url: httpUrl, topic }),
    ...callbackOptions,
  }),
])

export const jobInput = sparse(
  z
    .strictObject({
      queue: queueName.default('default'),
      class: className,
      args: closed.optional(),
      name: childName.optional(),
      parent: ref.optional(),
      in: portSpecs.optional(),
      out: portSpecs.optional(),
      inputs: inputs.optional(),
      at: time.optional(),
      wait: duration.optional(),
      priority: priority.optional(),
      retry: retry.optional(),
      timeout: positive.optional(),
      keepResult: z.union([z.boolean(), positive]).optional(),
      unique: unique.optional(),
      repeat: repeat.optional(),
      alias: z.array(alias).max(100).optional(),
      callback: callback.optional(),
      createdBy: label.optional(),
      group: group.optional(),
      tag: label.optional().meta({ description: 'lent only to pull workers that ask for it' }),
      retain: duration.optional(),
      history: history.optional(),
      redeliver: redeliver.optional(),
    })
    .refine(notBoth, NOT_BOTH)
    .superRefine(checkDebounce),
)

/** One job, or up to 1,000 of which all are made or none. */
export const jobInputs = z.union([jobInput, alike(z.array(jobInput).min(1).max(1_000), 'args')])

export const jobPatch = z.strictObject({
  args: closed.optional(),
  priority: priority.optional(),
  retry: retry.optional(),
  timeout: positive.optional(),
  repeat: repeat.nullable().optional(),
  runAt: time.nullable().optional(),
  group: group.optional(),
})

/** What is to be done to all jobs that fit; a filter that says nothing would mean everything. */
export const bulkInput = z.strictObject({
  filter: z
    .strictObject({
      status: status.optional(),
      queue: queueName.optional(),
      class: className.optional(),
      group: label.optional(),
      parent: ref.optional(),
    })
    .refine((filter) => Object.values(filter).some((value) => value !== undefined), 'expected at least one condition'),
  action: z.enum(['retry', 'terminate', 'delete', 'requeue']),
})

export const runOptions = z
  .strictObject({
    force: z.boolean().optional(),
    at: time.optional(),
    wait: duration.optional(),
    parent: z.boolean().optional(),
  })
  .refine(notBoth, NOT_BOTH)

export const stateChange = z.strictObject({
  set: stateFields.optional(),
  unset: z.array(label).max(limits.stateFields.most).optional(),
})

export const enqueued = z.object({ id: jobId, status, existing: z.literal(true).optional() })
export const stepped = z.object({ id: jobId, status })

const portView = z.object({ size: z.int(), taken: z.int(), default: closed.optional(), channels: z.array(z.string()) })

export const callbackState = z.enum(['PENDING', 'IN_PROGRESS', 'DELIVERED', 'FAILED'])

/** How telling of a job's last end goes; no state before the job has ended. */
export const callbackProgress = z.object({
  state: callbackState.nullable(),
  attempts: z.int(),
  lastError: z.string().nullable(),
  /** The job that does it. */
  job: jobId.nullable(),
})

export const callbackView = callbackProgress.extend({
  state: callbackState,
  job: jobId,
  /** The job whose end is told, and which of its ends. */
  of: jobId,
  end: z.int(),
  url: z.string(),
  createdAt: moment,
  nextAt: moment.nullable(),
  endedAt: moment.nullable(),
})

export const jobView = z.object({
  id: jobId,
  queue: z.string(),
  class: z.string(),
  status,
  args: closed.nullable(),
  name: z.string().nullable(),
  parent: z.object({ id: jobId, name: z.string() }).nullable(),
  aliases: z.array(z.string()),
  priority: z.int(),
  group: z.string().nullable(),
  attempt: z.int(),
  lost: z.int(),
  createdAt: moment,
  createdBy: z.string(),
  by: z.string().optional().meta({ description: 'the API key that asked for it, as key:<id>' }),
  ranAt: moment.nullable(),
  endedAt: moment.nullable(),
  runAt: moment.nullable(),
  waitingFor: z.union([z.enum(['children', 'parent']), z.array(z.string())]).nullable(),
  error: closed.nullable(),
  progress: closed.nullable(),
  repeat: closed.nullable(),
  callback: callbackProgress.nullable(),
  in: z.record(z.string(), portView),
  out: z.record(z.string(), portView),
  children: z.record(z.string(), z.object({ id: jobId, class: z.string(), status })),
  /** How many children are not in `children`: the list of jobs has them all, page by page (`parent=`). */
  moreChildren: z.int().optional(),
})

export const result = z.union([
  z.object({ type: z.literal('success'), finishedAt: moment, saidAt: z.string().optional(), result: closed }),
  z.object({
    type: z.literal('failure'),
    finishedAt: moment,
    saidAt: z.string().optional(),
    reason: z.enum(['other', 'timeout']),
    message: z.string(),
    error: closed.nullable(),
    retry: z.literal(false).optional(),
  }),
])

export const why = z.object({
  running: z.boolean(),
  reasons: z.array(
    z.object({
      code: z.string(),
      message: z.string(),
      since: moment.optional(),
      until: moment.optional(),
      job: jobId.optional(),
      key: z.string().optional(),
    }),
  ),
})

/** Newest first; `token` to `error` of jobs that keep their runs. */
const pastRun = z.object({
  startedAt: moment,
  endedAt: moment,
  outcome: z.string().meta({
    description: 'completed, suspended, follow, again, failed, lost, conflict, released (given back) or requeued',
  }),
  attempt: z.int(),
  token: z.string().optional(),
  retried: z.boolean().optional().meta({ description: 'whether it was tried again for this end' }),
  by: z
    .string()
    .optional()
    .meta({ description: 'function, pull, or the host of the push worker; absent where that is not known' }),
  error: closed.optional(),
})

export const pastRuns = z.object({ runs: z.array(pastRun) })

export const tree = z.object({
  id: jobId,
  class: z.string(),
  status,
  children: z.record(z.string(), z.unknown()),
  more: z.literal(true).optional().meta({ description: 'there are more jobs below it than are shown' }),
})

/** The answer of a verb that has nothing to tell: nothing inside, `{}` outside. */
export const done = z.object({}) as unknown as z.ZodType<void, Record<string, never>>

// Ports and channels

export const items = z.array(
  z.object({ data: closed, context: closed.optional(), default: z.literal(true).optional() }),
)

export const portLook = portView.extend({ values: items })

export const portWrite = z
  .strictObject({
    values: values.optional(),
    value: closed.optional(),
    notify: z.boolean().optional(),
    log: z.boolean().optional(),
    setDefault: z.boolean().optional(),
    context: closed.optional(),
  })
  .refine(
    (given) => (given.values === undefined) !== (given.value === undefined),
    'expected either "values" or "value"',
  )

export const portRead = z.strictObject({ max: z.int().min(1).max(VALUES).optional() })

export const target = z.union(
  [z.strictObject({ job: ref, in: portName }), z.strictObject({ job: ref, out: portName })],
  'expected { job, in } or { job, out }',
)

export const channelList = z.object({
  channels: z.array(z.object({ name: z.string(), subscribers: z.array(z.object({ job: jobId, port: z.string() })) })),
})

export const logPage = z.object({
  entries: z.array(z.object({ id: z.string(), at: moment, job: jobId.nullable(), entry: closed, level: z.string() })),
  cursor: z.string().nullable(),
})

// Workers, queues, keys

const workerPorts = z.record(
  anyPort,
  z.strictObject({
    default: closed.optional(),
    schema: closed.optional().meta({ description: 'JSON Schema of the values' }),
    channels: channelNames.optional(),
  }),
)

const workerShape = z.strictObject({
  args: closed.optional().meta({ description: 'JSON Schema of the args that its jobs are made with' }),
  result: closed.optional().meta({ description: 'JSON Schema of the results of its runs' }),
  concurrency: concurrency.optional().meta({
    description: 'how many runs of the class there may be at once, in all lanes: the limit worker:<queue>/<class>',
  }),
  limits: z
    .array(z.strictObject({ key: label.optional(), concurrency: concurrency.optional(), rate: rate.optional() }))
    .max(10)
    .optional(),
  in: workerPorts.optional(),
  out: workerPorts.optional(),
  push: z
    .strictObject({
      url: httpUrl,
      secret: label.optional(),
      format: z.literal('jq').optional(),
    })
    .optional(),
  pull: z.boolean().optional(),
  retry: retry.optional(),
  timeout: positive.optional(),
  retain: duration.optional(),
  history: history.optional(),
  redeliver: redeliver.optional(),
  shutdown: z.boolean().optional(),
  reach: z
    .enum(['family', 'all'])
    .optional()
    .meta({ description: 'all: its runs may also change jobs outside their own tree, and delete with force' }),
  description: z.string().max(10_000).optional(),
})

export const worker = workerShape.refine(({ push, pull }) => !(push && pull), {
  error: 'expected "push" or "pull", got both',
  path: ['pull'],
})

const shownRetry = z.object({
  max: z.int().optional(),
  backoff: z
    .object({
      base: span.optional(),
      factor: z.number().optional(),
      cap: span.optional(),
      jitter: z.number().optional(),
      delays: z.array(span).optional(),
    })
    .optional(),
})

export const shownRate = z.object({ limit: z.int(), period: span })

/** A worker as it is shown: all of the push address but its secret. */
export const workerView = workerShape
  .omit({ push: true, retry: true, timeout: true, retain: true, limits: true, redeliver: true })
  .extend({
    limits: z
      .array(z.object({ key: z.string().optional(), concurrency: z.int().optional(), rate: shownRate.optional() }))
      .optional(),
    push: z.object({ url: z.string(), format: z.literal('jq').optional() }).optional(),
    retry: shownRetry.optional(),
    timeout: span.optional(),
    cron: z
      .object({ expression: z.string(), tz: z.string().optional(), missed: missed.optional(), args: closed.optional() })
      .optional()
      .meta({ description: 'it repeats by itself: the schedule cron:<queue>/<class>' }),
    retain: span.optional(),
    redeliver: z.object({ after: span, max: z.int() }).optional(),
  })

export const workerList = z.object({
  workers: z.array(workerView.extend({ queue: z.string(), class: z.string() })),
})

const ageing = positive
  .refine((ms) => Number.isInteger(ms) && ms <= MAX_AGEING, 'expected whole milliseconds, at most 1 hour')
  .meta({
    description:
      'so long a wait is worth one step of priority, up to 1 hour: who waits for n times as long goes before those who come then with a priority smaller by less than n; null: priorities are strict',
  })

export const queuePatch = z.strictObject({
  lanes: z.int().min(1).max(1_000).optional(),
  batch: z.int().min(1).max(1_000).optional(),
  paused: z.boolean().optional(),
  mode: z.enum(['push', 'pull']).optional(),
  ageing: ageing.nullable().optional(),
})

export const queueView = z.object({
  name: z.string(),
  paused: z.boolean(),
  mode: z.enum(['push', 'pull']),
  lanes: z.int(),
  maxLanes: z.int(),
  batch: z.int(),
  ageing: span.nullable(),
  counts: z.record(z.enum([...statuses, 'scheduled']), z.int()),
  oldestReady: moment.nullable(),
})

/** null removes a setting, one that is left out stays. */
export const limitSettings = z.strictObject({
  concurrency: concurrency.nullable().optional(),
  rate: rate.nullable().optional(),
  paused: z.boolean().optional(),
})

export const groupSettings = limitSettings.omit({ rate: true })

const inUse = { paused: z.boolean(), running: z.int(), waiting: z.int() }

export const scheduleView = z.object({
  job: jobId,
  queue: z.string(),
  class: z.string(),
  status,
  aliases: z.array(z.string()),
  repeat: closed,
  paused: z.boolean(),
  failing: z.boolean().meta({ description: 'its last run failed or was lost' }),
  error: closed.nullable(),
  lastRun: pastRun.nullable(),
  next: z.array(moment),
})

export const backfilled = z.object({
  jobs: z.array(z.object({ id: jobId, scheduledFor: moment })),
  next: moment
    .nullable()
    .meta({ description: 'where to go on, when there were more slots than one call makes jobs for' }),
})

export const limitView = z.object({
  key: z.string(),
  concurrency: z.int().nullable(),
  rate: shownRate.nullable(),
  ...inUse,
})

export const groupView = z.object({ id: z.string(), concurrency: z.int().nullable(), ...inUse, jobs: z.int() })

const WIRE = 'a wire: from>to, each a port of the flow or node.port'
export const wireName = z
  .string()
  .refine((text) => text.length > 0 && text.length <= 800, `expected ${WIRE}`)
  .meta({ description: WIRE })

const end = z.object({ node: z.string().nullable(), port: z.string() })
const nodeJob = z.object({ node: z.string(), job: jobId })

/** What a new graph did, or would do. */
export const graphChange = z.object({
  applied: z.boolean(),
  /** Nodes that become new jobs; others start when something reaches them. */
  start: z.array(z.string()),
  adopt: z.array(z.string()),
  stop: z.array(nodeJob),
  replace: z.array(nodeJob),
  wires: z.object({ added: z.array(z.string()), removed: z.array(z.string()) }),
  /** Values that stay behind, where they are. */
  orphaned: z.array(z.object({ node: z.string().nullable(), job: jobId, dir, port: z.string(), values: z.int() })),
})

export const wireView = z.object({
  id: z.string(),
  from: end,
  to: end,
  laid: z.boolean(),
  size: z.int(),
  behind: z.int(),
  oldest: z.object({ data: closed, context: closed.optional() }).nullable(),
  rate: z.number(),
})

export const claimOptions = z.strictObject({
  names: z
    .array(
      label.refine((name) => isText(name, limits.claimName.most), `expected at most ${limits.claimName.most} bytes`),
    )
    .max(limits.claimNames.most)
    .optional(),
  tags: z.array(label).max(limits.claimNames.most).optional(),
  max: z.int().min(1).max(1_000).optional(),
  wait: waitTime.optional(),
  lease: positive.optional(),
  process: processName.optional(),
})

export const scope = z.enum(['admin', 'write', 'read', 'work'])

const keyLimits = z.strictObject({
  requestsPerSecond: z
    .number()
    .min(0.1)
    .max(100_000)
    .optional()
    .meta({ description: 'on average, of each isolate; so many at once are double of it' }),
})

export const keyInput = z.strictObject({
  name: label,
  scopes: z.array(scope).min(1).max(4),
  expiresAt: time.optional().meta({ description: 'when it ends; never, where nothing is said' }),
  limits: keyLimits.optional(),
})

/** A key that was just made: its text is shown this once. */
export const keyMade = z.object({ id: z.string(), key: z.string() })

export const keyList = z.object({
  keys: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      scopes: z.array(scope),
      createdAt: moment,
      expiresAt: moment.optional(),
      lastUsedAt: moment.optional().meta({ description: 'to the hour' }),
      limits: z.object({ requestsPerSecond: z.number().optional() }).optional(),
    }),
  ),
})

/** How long the old key goes on beside the new one. */
export const keyRotation = z.strictObject({
  overlap: duration.refine((ms) => ms >= 0 && ms <= 30 * DAY, 'expected at most 30 days').default(DAY),
})

const TENANT_NAME = 'a tenant: a-z, 0-9 and -, at most 40 long, beginning with a letter or digit'
export const tenantName = named(TENANT_NAME, (text) => TENANT.test(text))

export const tenantList = z.object({ tenants: z.array(z.object({ name: z.string(), createdAt: moment })) })

export const auditPage = z.object({
  entries: z.array(
    z.object({
      id: z.string(),
      at: moment,
      by: z.string().meta({ description: 'key:<id>' }),
      name: z.string(),
      verb: z.string(),
      method: z.string(),
      path: z.string(),
    }),
  ),
  cursor: z.string().nullable(),
})

export const lockInput = z.strictObject({ ttl: positive })
export const lockToken = z.string().min(1).max(255)

export const failure = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    path: z.array(z.union([z.string(), z.number()])).optional(),
    retryAfter: z.number().optional(),
  }),
})

// Where the special things are

/** Where in a shape closed values, moments and spans stand: at this place, below named members, or below every member or item. */
export type Places = 'closed' | 'moment' | 'span' | { members?: Record<string, Places>; each?: Places; items?: Places }

/**
 * Reads off a schema where its closed values and moments are; the options of a union are laid over each other.
 *
 * @example places(z.object({ args: closed })) // { members: { args: 'closed' } }
 */
export const places = (schema: z.ZodType): Places | undefined => {
  if (schema === closed) return 'closed'
  if (schema === moment) return 'moment'
  if (schema === span) return 'span'
  const def = schema._zod.def as unknown as Def
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

/**
 * The pattern with which a body of this shape is read: `parseJson(text, closedIn(changes))`.
 *
 * @example closedIn(z.object({ args: closed })) // { args: CLOSED }
 */
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
    throw new Error('one place is closed in one option, open in another')
  const names = new Set([...Object.keys(a.members ?? {}), ...Object.keys(b.members ?? {})])
  return {
    members: Object.fromEntries([...names].map((name) => [name, overlay(a.members?.[name], b.members?.[name])!])),
    each: overlay(a.each, b.each),
    items: overlay(a.items, b.items),
  }
}

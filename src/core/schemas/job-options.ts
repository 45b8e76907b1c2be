import * as z from 'zod'
import { alike, quickParses } from '../alike.ts'
import { isCallbackGroup } from '../callback.ts'
import { limits } from '../limits.ts'
import { missedPolicies } from '../repeat.ts'
import { DAY } from '../units.ts'
import { isHttp } from '../url.ts'
import { atMost, ruleOf } from './at-most.ts'
import {
  alias,
  builtAgainst,
  byAnyPort,
  byPort,
  callbackState,
  channelNames,
  childName,
  className,
  codeVersion,
  errorKind,
  jobId,
  jobMatch,
  label,
  labels,
  queueName,
  ref,
  status,
  values,
} from './names.ts'
import { closed, concurrency, duration, milliseconds, positive, TIME, time, within } from './values.ts'

export const inputs = byPort(values)

const stateFields = z.record(label, closed).refine(...atMost(limits.stateFields.most, 'fields'))

export const portSpec = z.strictObject({ default: closed.optional(), channels: channelNames.optional() })
export const portSpecs = byAnyPort(portSpec)

export const waitTime = duration.refine(
  ...within(0, limits.waitMs.most, `at most ${limits.waitMs.most / 1_000} seconds`),
)

export const backoffMembers = <Duration extends z.ZodType>(duration: Duration) =>
  z.strictObject({
    base: duration.optional(),
    factor: z.number().min(1).max(100).optional(),
    cap: duration.optional(),
    jitter: z.number().min(0).max(1).optional(),
    delays: z.array(duration).min(1).max(100).optional(),
  })

const backoffOver = (duration: typeof milliseconds) =>
  [backoffMembers(duration), duration.transform((base) => ({ base }))] as const
export const backoffWays = backoffOver(duration)

const retryOver = (ways: typeof backoffWays) =>
  z.strictObject({ max: z.int().min(0).max(1_000_000).optional(), backoff: z.union(ways).optional() })

export const MAX_HISTORY = 100

export const history = z
  .int()
  .min(0)
  .max(MAX_HISTORY)
  .describe('maximum number of recorded runs; by default, only the last ten failed or lost runs are recorded')

export const FOREVER_MS = 100 * 365.25 * DAY

export const retain = z
  .union([duration, z.literal(['forever', FOREVER_MS / 1_000]).transform(() => FOREVER_MS)])
  .describe(
    "time to keep the job after it has completed or was terminated; by default one day, or 30 days if new input can wake it; 'forever' keeps it until it is deleted. Failed jobs are kept for 30 days",
  )

export const redeliver = z
  .strictObject({
    after: duration.refine(...within(1_000, 365 * DAY, '1 second to 365 days')),
    max: z.int().min(1).max(1_000).default(10),
  })
  .describe(
    'time within which a pull worker, or a push worker that answered 202, must report the result of a run. The job fails after `max` consecutive runs without a report',
  )

export const retry = retryOver(backoffWays).describe('number and backoff of retries of a failed run')

/** A number means milliseconds in code and seconds in requests. */
export const codeRetry = retryOver(backoffOver(milliseconds))
export const codeRetain = z.union([milliseconds, z.literal(['forever', FOREVER_MS]).transform(() => FOREVER_MS)])

export const missed = z
  .enum(missedPolicies)
  .describe(
    'handling of missed slots (scheduled times): `run` starts one run for each slot, `last` starts one run for all slots (the default for cron), `skip` skips slots that are more than five minutes late',
  )
const stopOnFail = z.boolean().describe('true if the schedule ends when a run fails permanently')
const repeatOptions = { missed: missed.optional(), stopOnFail: stopOnFail.optional() }

export const repeat = z.union([
  label,
  z.strictObject({ cron: label, tz: label.optional(), ...repeatOptions }),
  z.strictObject({ bedrock: label, ...repeatOptions }),
])

const priority = z.int32().describe('lower numbers run first')

const debounce = z
  .strictObject({ wait: positive, max: positive.optional() })
  .refine(({ wait, max = wait }) => max >= wait, { error: 'must be at least "wait"', path: ['max'] })
  .describe(
    'the job starts `wait` after the last request, but at most `max` after the first request. It gets the newest args',
  )

const unique = z.union([
  label,
  z
    .strictObject({
      key: label,
      until: z.enum(['started', 'ended', 'deleted']).optional(),
      for: positive.optional().describe('time to hold the key, even if the job ends earlier (a throttle)'),
      debounce: debounce.optional(),
    })
    .superRefine((given, ctx) => {
      const [first, second] = (['until', 'for', 'debounce'] as const).filter((name) => given[name] !== undefined)
      if (second)
        ctx.addIssue({ code: 'custom', message: `expected "${first}" or "${second}", got both`, path: [second] })
    }),
])

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

const groupId = label.refine((id) => !isCallbackGroup(id), 'expected a group that does not begin with "callback:"')
/** `concurrency` applies only to a new group. */
export const group = z
  .strictObject({ id: groupId, concurrency: concurrency.optional() })
  .describe('limit for jobs with the same group id; groups take turns at limits that they share')

const notBoth = (given: { at?: number; wait?: number }) => given.at === undefined || given.wait === undefined
const NOT_BOTH = { error: 'expected "at" or "wait", got both', path: ['wait'] }

export const httpUrl = z.string().max(2_000).refine(isHttp, 'expected a URL that begins with http:// or https://')

// A callback sets these headers.
const OWN_HEADERS = /^(host|connection|content-length|content-type|transfer-encoding|webhook-.*)$/i
const ownHeader = (headers: object) => Object.keys(headers).find((name) => OWN_HEADERS.test(name))

export const headerName = z.string().regex(/^[!#$%&'*+.^_`|~\w-]{1,100}$/, 'expected a valid HTTP header name')
export const requestHeaders = z
  .record(headerName, z.string().regex(/^[\t\x20-\x7e\x80-\xff]{0,2000}$/, 'expected a valid HTTP header value'))
  .refine(...atMost(limits.headers.most, 'headers'))

export const webhookSecret = z
  .string()
  .regex(/^(whsec_)?[A-Za-z0-9+/]{4,200}={0,2}$/, 'expected base64, which may follow "whsec_"')

const callbackOptions = {
  headers: requestHeaders
    .refine(...ruleOf((headers: object) => !ownHeader(headers), 'no header that sidejob sets itself', ownHeader))
    .optional(),
  secret: webhookSecret.optional(),
  retry: z.array(duration).max(50).optional(),
  timeout: positive.refine(...within(1, 30_000, 'at most 30 seconds')).optional(),
}

/** Refuses `.` and `..`, which would change the path of the URL. */
export const topic = z
  .string()
  .regex(
    /^(?!\.{1,2}$)[\w.-]{1,249}$/,
    'expected a Kafka topic: at most 249 characters from a-z, A-Z, 0-9, ".", "_" and "-"',
  )

export const callback = z.union([
  z.strictObject({ url: httpUrl, ...callbackOptions }),
  z.strictObject({
    kafka: z.strictObject({ url: httpUrl, topic }),
    ...callbackOptions,
  }),
])

const portsOf = (side: string) =>
  portSpecs
    .optional()
    .describe(`${side} ports with defaults and channels; each replaces the class’s port of the same name`)

export const jobInput = z
  .strictObject({
    queue: queueName.default('default').describe('queue of the job'),
    class: className.describe('class of the worker that performs the job'),
    args: closed.optional().describe('input of the job; `null` if omitted'),
    name: childName.optional().describe('name of the job among the children of its parent'),
    parent: ref.optional().describe('id or alias of the parent'),
    in: portsOf('input'),
    out: portsOf('output'),
    inputs: inputs.optional().describe('initial values of input ports'),
    at: time.optional().describe(`time at which the job becomes ready: ${TIME}`),
    wait: duration.optional().describe("delay before the job becomes ready: seconds, or a string like '5m'"),
    priority: priority.optional(),
    retry: retry.optional().describe('number and backoff of retries of a failed run; by default as in its class'),
    timeout: positive.optional().describe("maximum duration of a run: seconds, or a string like '30s'"),
    keepResult: z
      .union([z.boolean(), positive])
      .optional()
      .describe(
        'time to keep the result after the job ends: `true` means one hour, `false` keeps no result. By default, only results of completed jobs are kept, for one day, or for `retain` if it is shorter',
      ),
    unique: unique
      .optional()
      .describe(
        'key that only one job per queue and class can hold at a time; a request with the same key returns the existing job',
      ),
    repeat: repeat
      .optional()
      .describe('schedule: a cron pattern, or words such as `SCHEDULED, +1 HOUR`; see docs/schedules.md#patterns'),
    alias: z.array(alias).max(100).optional().describe('names that can be used instead of the id'),
    callback: callback.optional().describe('address or Kafka topic that is notified when the job ends'),
    createdBy: label.optional().describe('free text that names the requester. It is not verified'),
    group: group.optional(),
    labels: labels.optional(),
    tag: label.optional().describe('only claims with this tag receive the job'),
    retain: retain.optional(),
    history: history.optional(),
    redeliver: redeliver.optional(),
    schema: builtAgainst,
  })
  .refine(notBoth, NOT_BOTH)
  .superRefine(checkDebounce)

export type AskedJob = z.output<typeof jobInput>

const MAX_JOBS = 1_000

export const jobInputs = z.union([jobInput, z.array(jobInput).min(1).max(MAX_JOBS)])
// `checkDebounce` reads `inputs` only of jobs with a `unique` object, and such jobs are always parsed as a whole.
quickParses.set(
  jobInputs,
  alike(jobInput, { by: 'class', members: ['args', 'inputs', 'priority', 'labels', 'tag'], most: MAX_JOBS }),
)

export const jobPatch = z.strictObject({
  args: closed.optional().describe('args of the next run'),
  schema: builtAgainst,
  priority: priority.optional(),
  retry: retry.optional(),
  timeout: positive.optional(),
  repeat: repeat.nullable().optional().describe('new schedule; null removes it'),
  runAt: time.nullable().optional().describe(`time of the next run: ${TIME}; null runs the job as soon as possible`),
  group: group.optional(),
})
export type AskedPatch = z.output<typeof jobPatch>

export const waits = z
  .enum(['limit', 'retry', 'function'])
  .describe(
    '`limit`: only jobs that wait for a limit; `retry`: only jobs that wait for a retry; `function`: only jobs that wait inside their function, with stored steps',
  )

const bulkJobs = z.strictObject({
  filter: z
    .strictObject({
      status: status.or(z.array(status).min(1).max(7)).optional(),
      ...jobMatch,
      callback: callbackState.exclude(['IN_PROGRESS']).optional(),
      since: time.optional(),
      until: time.optional(),
      longer: duration.optional(),
      waits: waits.optional(),
      parent: ref.optional(),
      error: errorKind.optional(),
    })
    .refine(
      (filter) => Object.values(filter).some((value) => value !== undefined),
      'expected at least one condition, got none',
    )
    .optional(),
  ids: z
    .array(jobId)
    .min(1)
    .max(limits.bulkIds.most)
    .optional()
    .describe('ids of the jobs, instead of a filter; the action changes only these jobs'),
  action: z.enum(['retry', 'terminate', 'delete', 'requeue', 'move']),
  to: z
    .union([codeVersion, httpUrl])
    .optional()
    .describe('version of the code, or address of a push worker, that continues the pinned jobs. Required for `move`'),
})
export type BulkInput = z.output<typeof bulkJobs>

export const bulkInput = bulkJobs
  .refine(({ filter, ids }) => filter !== undefined || ids !== undefined, { error: 'is missing', path: ['filter'] })
  .refine(({ filter, ids }) => filter === undefined || ids === undefined, {
    error: 'expected "filter" or "ids", got both',
    path: ['ids'],
  })
  .refine(({ action, to }) => (action === 'move') === (to !== undefined), {
    error: 'is required if "action" is "move", and not allowed otherwise',
    path: ['to'],
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

import * as z from 'zod'
import { mapValues } from '../map-values.ts'
import { REDACT_PATH, redactable } from '../redact.ts'
import {
  backoffMembers,
  backoffWays,
  codeRetain,
  codeRetry,
  history,
  httpUrl,
  missed,
  portSpec,
  redeliver,
  retain,
  retry,
  webhookSecret,
} from './job-options.ts'
import { byAnyPort, classLabels, className, jobId, label, queueName, schemaHash } from './names.ts'
import { closed, codeRate, concurrency, moment, positive, positiveMilliseconds, rate, span } from './values.ts'

const workerPort = portSpec.extend({ schema: closed.optional().describe('JSON Schema of the values of the port') })
const workerPorts = byAnyPort(workerPort)

const redactedPaths = z
  .array(
    z
      .string()
      .max(255)
      .regex(REDACT_PATH, {
        error: ({ input }) =>
          `expected a path that begins with one of ${redactable.join(', ')}, such as "args.card.number", got ${JSON.stringify(input)}`,
      }),
  )
  .max(50)

const pushed = z.strictObject({
  url: httpUrl,
  secret: webhookSecret.optional(),
  format: z.literal('jq').optional(),
})

const workerShape = z.strictObject({
  args: closed.optional().describe('JSON Schema of the args of a job'),
  result: closed.optional().describe('JSON Schema of the result of a run'),
  concurrency: concurrency
    .optional()
    .describe('maximum number of concurrent runs; sets the limit worker:<queue>/<class>'),
  limits: z
    .array(z.strictObject({ key: label.optional(), concurrency: concurrency.optional(), rate: rate.optional() }))
    .max(10)
    .optional()
    .describe('limits for all jobs of the class; by default, the class is the key of the limit'),
  in: workerPorts.optional().describe('input ports by name; `*` matches any name'),
  out: workerPorts.optional().describe('output ports by name; `*` matches any name'),
  push: pushed.optional().describe('address to which runs of the class are sent'),
  pull: z.boolean().optional().describe('true if pull workers claim runs of the class'),
  retry: retry.optional(),
  timeout: positive.optional(),
  retain: retain.optional(),
  history: history.optional(),
  redeliver: redeliver.optional(),
  labels: classLabels.optional(),
  shutdown: z.boolean().optional().describe('true if a terminated job runs once more, to clean up'),
  reach: z
    .enum(['family', 'all'])
    .optional()
    .describe(
      '`family`: runs may change only jobs in their own tree; `all`: runs may change all jobs, and delete jobs with force',
    ),
  redact: redactedPaths
    .optional()
    .describe(
      'paths of values that are shown as "[redacted]", such as args.card.number; each begins with args, state, in, out, result, error or progress',
    ),
  pin: z
    .boolean()
    .optional()
    .describe(
      'true if a job that has started continues on the same version of the code, or at the same address of a push worker',
    ),
  description: z.string().max(10_000).optional().describe('description of the class, for people'),
})

export const worker = workerShape
  .refine(({ push, pull }) => !(push && pull), { error: 'expected "push" or "pull", got both', path: ['pull'] })
  .refine(({ pin, pull }) => !(pin && pull), {
    error: 'expected a function or a push worker, got a pull worker, which sidejob cannot call',
    path: ['pin'],
  })

export const keptWorker = workerShape.extend({ former: z.array(closed).optional() })

type AnyFunction = (...given: never[]) => unknown

const func = z.custom<AnyFunction>((given) => typeof given === 'function', 'expected a function')
// Zod's documentation says that schemas of Zod 4 have a member `_zod`.
const isSchema = (given: unknown): boolean => typeof given === 'object' && given !== null && '_zod' in given
const zodSchema = z.custom<z.ZodType>(isSchema, 'expected a Zod 4 schema')

const codePorts = byAnyPort(portSpec.extend({ schema: zodSchema.optional(), default: z.unknown().optional() }))

type KeyOf = (args: unknown) => string | number | undefined

const codeLimit = z.strictObject({
  key: z.union([label, func.transform((key) => key as KeyOf)], 'expected a string or a function').optional(),
  concurrency: concurrency.optional(),
  rate: codeRate.optional(),
})

export const codeWorker = z.strictObject({
  history: z.union([history, z.strictObject({ runs: history.optional(), values: z.boolean() })]).optional(),
  ...workerShape.pick({ concurrency: true, labels: true, reach: true, redact: true, pin: true, description: true })
    .shape,
  queue: queueName.optional(),
  class: className,
  args: zodSchema.optional(),
  result: zodSchema.optional(),
  in: codePorts.optional(),
  out: codePorts.optional(),
  limits: z.array(codeLimit).max(10).optional(),
  retry: codeRetry.optional(),
  timeout: positiveMilliseconds.optional(),
  retain: codeRetain.optional(),
  cron: z
    .strictObject({
      expression: label,
      tz: label.optional(),
      missed: missed.optional(),
      args: z.unknown().optional(),
    })
    .optional(),
  isolate: z.boolean().optional(),
  maxLost: z.int().min(1).max(100).optional(),
  checked: z.enum(['door', 'run']).optional(),
  statusPublish: z.boolean().optional(),
  onCodeChange: z.enum(['fail', 'warn', 'ignore']).optional(),
  startup: func.optional(),
  perform: func,
  shutdown: func.optional(),
})
export type CodeWorker = z.output<typeof codeWorker>

type Clearable<Shape extends z.ZodRawShape> = { [Name in keyof Shape]: z.ZodOptional<z.ZodNullable<Shape[Name]>> }

const clearable = <Shape extends z.ZodRawShape>({ shape }: z.ZodObject<Shape>) =>
  z.strictObject(
    mapValues(shape, (member) => z.optional(z.nullable(member as z.ZodType))) as unknown as Clearable<Shape>,
  )

const patchedPorts = byAnyPort(clearable(workerPort).nullable()).nullable().optional()

const [members, firstWait] = backoffWays
const patchedRetry = clearable(retry).extend({
  backoff: z
    .union([clearable(members), firstWait])
    .nullable()
    .optional(),
})

export const workerPatch = clearable(workerShape).extend({
  in: patchedPorts,
  out: patchedPorts,
  push: clearable(pushed).nullable().optional(),
  retry: patchedRetry.nullable().optional(),
})
export type WorkerPatch = z.output<typeof workerPatch>

export const shownRetry = z.object({ max: z.int().optional(), backoff: backoffMembers(span).strip().optional() })

export const shownRate = z.object({ limit: z.int(), period: span })

const schemaOfClass = schemaHash
  .optional()
  .describe(
    'hash of the schemas of the class, to send with jobs, claims and commits; absent if the class has no schema',
  )

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
      .describe('schedule of the class; its alias is cron:<queue>/<class>'),
    retain: span.optional(),
    redeliver: z.object({ after: span, max: z.int() }).optional(),
    schema: schemaOfClass,
  })

const workerUnfit = z.object({
  jobs: z.int().describe('number of waiting jobs whose args or values do not fit the new definition'),
  values: z
    .array(
      z.object({
        job: jobId,
        port: z.string().nullable().describe('input port of the value; null for args'),
        why: z.string(),
      }),
    )
    .describe('first ten values that do not fit'),
  looked: z.int().describe('number of waiting jobs that were checked: at most the newest 100'),
  more: z.boolean().describe('true if further waiting jobs or values were not checked'),
})
export type WorkerUnfit = z.output<typeof workerUnfit>

export const storedWorker = workerView.extend({
  unfit: workerUnfit.optional().describe('waiting jobs that do not fit the new definition. Present if preview=true'),
})

export const workerList = z.object({
  workers: z.array(
    workerView.extend({
      queue: z.string(),
      class: z.string(),
      seen: moment
        .nullable()
        .describe(
          'time at which a named pull worker last claimed from its queue, accurate to five seconds; null if none has, or if pull workers do not perform the class',
        ),
      servedBy: z
        .array(z.object({ id: z.string(), at: moment, version: z.string().nullable() }))
        .describe(
          'deployments that serve the class; empty unless the class is a function. `at` is the time at which the newest version announced itself; `version` is the newest version that has the function',
        ),
    }),
  ),
})

import type { z } from 'zod'
import { type Duration, milliseconds } from './time.ts'

/** The type of a port's values, their default, and the channels that the port belongs to. */
export type Port<T = unknown> = {
  schema?: z.ZodType<T>
  default?: T
  channels?: string[]
}

/**
 * Declares a port with the type of its values and a default for reads.
 *
 * @example in: { left: port(z.number()), right: port(z.string(), { default: 'x' }) }
 */
export const port = <T>(schema?: z.ZodType<T>, options: { default?: T; channels?: string[] } = {}): Port<T> => ({
  ...(schema ? { schema } : {}),
  ...options,
})

// biome-ignore lint/suspicious/noExplicitAny: a record of ports holds ports of every type
export type Ports = Record<string, Port<any>>
export type ValueOf<P> = P extends Port<infer T> ? T : never

/** Ends a run without completing the job: the result of `job.suspend()`, `job.follow()` and `job.again()`. */
export class Ending {
  readonly end: 'suspended' | 'follow' | 'again'
  readonly options: {
    waitFor?: 'children' | string[]
    at?: number
    wait?: number
    pause?: { until?: number; children?: string[] }
  }

  constructor(end: 'suspended' | 'follow' | 'again', options: Ending['options'] = {}) {
    this.end = end
    this.options = options
  }
}

/**
 * Throw this if retrying would not help.
 *
 * @example throw new Terminal('the account is closed')
 */
export class Terminal extends Error {
  readonly detail?: unknown

  constructor(message: string, { detail, cause }: { detail?: unknown; cause?: unknown } = {}) {
    super(message, { cause })
    this.name = 'Terminal'
    this.detail = detail
  }
}

/**
 * Throw this to retry after at least the given time: milliseconds, or a string like '2m'.
 *
 * @example throw new Later('the other side is busy', { after: '2m' })
 */
export class Later extends Error {
  readonly after: number
  readonly detail?: unknown

  constructor(
    message: string,
    { after = 0, detail, cause }: { after?: Duration; detail?: unknown; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.name = 'Later'
    this.after = typeof after === 'string' ? milliseconds(after) : after
    this.detail = detail
  }
}

/**
 * Jobs that share the key have at most `concurrency` runs at once, and start at most `limit` runs per `period`. A
 * function derives the key from the args. If the function returns undefined, the limit does not apply.
 */
// biome-ignore lint/suspicious/noExplicitAny: args of any class
export type WorkerLimit<Args = any> = {
  key?: string | ((args: Args) => string | number | undefined)
  concurrency?: number
  rate?: { limit: number; period: Duration }
}

/** If `backoff` is a duration, it is the first delay. */
export type RetryOptions = {
  max?: number
  backoff?: Duration | { base?: Duration; factor?: number; cap?: Duration; jitter?: number; delays?: Duration[] }
}

/**
 * Repeats a job of the class as the schedule `cron:<queue>/<class>`. Deployments update the schedule, and remove it if
 * the class has no `cron`.
 */
export type Cron = {
  /** Five fields, or six that start with the seconds. */
  expression: string
  /** Time zone. The default is UTC. */
  tz?: string
  /** Policy for missed slots. `last` starts one run for all missed slots. */
  missed?: 'run' | 'last' | 'skip'
  args?: unknown
}

export type Reach = 'family' | 'all'

export type WorkerOptions = {
  queue?: string
  class: string
  description?: string
  retry?: RetryOptions
  /** Maximum time of a run: milliseconds, or a string like '2m' (default 30 s). Then `job.signal` aborts. */
  timeout?: Duration
  /** Maximum concurrent runs of the class in all lanes and deployments, as the limit `worker:<queue>/<class>`. */
  concurrency?: number
  /** Limits for all jobs of the class. The key defaults to the class. */
  limits?: readonly WorkerLimit[]
  /**
   * Retention of completed and terminated jobs: milliseconds, a string like '7 days', or 'forever'. The default is a
   * day, or 30 days if new input can wake the job. Failed jobs are kept for 30 days.
   */
  retain?: Duration
  cron?: Cron
  /**
   * Number of runs to record per job, up to 100 (default: the last ten failed or lost runs). With `values`, also keeps
   * the data that the last run read and changed, up to 64 KiB, for `sidejob rehearse --recorded`.
   */
  history?: number | { runs?: number; values: boolean }
  /** Labels for all jobs of the class. A job can override these labels and add more, up to 8 in total. */
  labels?: Record<string, string>
  /** Gives each run its own invocation, for heavy or untrusted work. */
  isolate?: boolean
  /**
   * Number of consecutive lost runs after which the job fails, from 1 to 100. The default is 10, or 2 with `isolate`,
   * because an isolated run probably killed its invocation itself.
   */
  maxLost?: number
  /** With `'all'`, runs may also change jobs outside their own tree, adopt any job, and delete with force. */
  reach?: Reach
  /**
   * Values that the API, the log and the dashboard show as `"[redacted]"`: `args`, `state`, `in`, `out`, `result`,
   * `error`, `progress`, or names inside them, like `args.card.number`.
   */
  redact?: string[]
  /** `'door'` checks each value when it is written. `'run'` only checks a value in the run that reads it. */
  checked?: 'door' | 'run'
  /** Policy if changed code requests a step or wait that differs from the stored one. The default is `fail`. */
  onCodeChange?: 'fail' | 'warn' | 'ignore'
  /** Jobs that wait inside the function stay on the code version that started them. Needs `SIDEJOB_VERSION_URL`. */
  pin?: boolean
  /** If false, status changes send no messages on `/sidejob/job/<id>`. */
  statusPublish?: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: a list of workers holds workers of every job type
export type Worker<J = any> = WorkerOptions & {
  /** Schema of the args. A job whose args do not match is refused. */
  args?: z.ZodType
  /** Schema of the result. A run whose result does not match fails. */
  result?: z.ZodType
  in?: Ports
  out?: Ports
  startup?: (job: J) => unknown
  perform: (job: J) => unknown
  shutdown?: (job: J) => unknown
}

export const workerDefaults = { queue: 'default', timeout: 30_000 } as const

export type Defined<
  Class extends string,
  In extends Ports,
  Out extends Ports,
  Args extends z.ZodType,
  Result extends z.ZodType,
  // biome-ignore lint/suspicious/noExplicitAny: a list of workers holds workers of every job type
  J = any,
> = Omit<Worker<J>, 'class' | 'in' | 'out' | 'args' | 'result'> & {
  class: Class
  in?: In
  out?: Out
  args?: Args
  result?: Result
}

// biome-ignore lint/suspicious/noExplicitAny: any class with its types
export type AnyDefined = Defined<string, any, any, any, any>

export type Unknown = { queue?: string; class: string; perform?: never }

type Given<P> = NonNullable<P>

export type InputsOf<W extends AnyDefined> = keyof Given<W['in']> extends never
  ? Record<string, never>
  : '*' extends keyof Given<W['in']>
    ? Record<string, unknown[]>
    : { [P in keyof Given<W['in']>]?: ValueOf<Given<W['in']>[P]>[] }

export type OutputsOf<W extends AnyDefined> = { [P in keyof Given<W['out']>]: ValueOf<Given<W['out']>[P]>[] }

export type ArgsOf<W extends AnyDefined> = z.input<Given<W['args']>>

export type ResultOf<W extends AnyDefined> = z.output<Given<W['result']>>

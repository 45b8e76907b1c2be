import type { z } from 'zod'
import type { Length } from './time.ts'

/** The type of a port's values, with its default and the channels it belongs to. */
export type Port<T = unknown> = {
  schema?: z.ZodType<T>
  default?: T
  channels?: string[]
}

/**
 * Declares a port: the type of its values, and the default of a read.
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

/** End of a run other than completion: the return value of `job.suspend()`, `job.follow()` and `job.again()`. */
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
 * Thrown by a worker: this will not get better by trying again.
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
 * Thrown by a worker to retry after at least the given milliseconds.
 *
 * @example throw new Later('the other side is busy', { after: 120_000 })
 */
export class Later extends Error {
  readonly after: number
  readonly detail?: unknown

  constructor(
    message: string,
    { after = 0, detail, cause }: { after?: number; detail?: unknown; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.name = 'Later'
    this.after = after
    this.detail = detail
  }
}

/**
 * At most `concurrency` runs at once and `limit` starts in each `period`, of all jobs that share the key. A function
 * makes the key from the args; undefined: the job does not count.
 */
// biome-ignore lint/suspicious/noExplicitAny: args of any class
export type WorkerLimit<Args = any> = {
  key?: string | ((args: Args) => string | number | undefined)
  concurrency?: number
  rate?: { limit: number; period: Length }
}

/** The retries of failed runs. A `backoff` that is a duration is the first wait. */
export type RetryOptions = {
  max?: number
  backoff?: Length | { base?: Length; factor?: number; cap?: Length; jitter?: number; delays?: Length[] }
}

/**
 * A repeating job of the class, the schedule `cron:<queue>/<class>`. A new deployment replaces it if it changed, and
 * removes it if it is omitted.
 */
export type Cron = {
  /** Five fields, or six with seconds first. */
  expression: string
  /** The zone of its times; UTC. */
  tz?: string
  /** Policy for missed slots; `last` is one run for all of them. */
  missed?: 'run' | 'last' | 'skip'
  args?: unknown
}

export type Reach = 'family' | 'all'

export type WorkerOptions = {
  queue?: string
  class: string
  description?: string
  retry?: RetryOptions
  /** The longest time of a run: milliseconds, or a text like '2m'; 30 s by default. `job.signal` aborts then. */
  timeout?: Length
  /**
   * Maximum concurrent runs of the class, in all lanes and deployments together: the limit `worker:<queue>/<class>`.
   */
  concurrency?: number
  /** Limits of all jobs of the class; the key defaults to the class. */
  limits?: readonly WorkerLimit[]
  /**
   * Time for which an ended job is kept: milliseconds, a text like '7 days', or 'forever'. By default a day, and 30
   * days if it failed or if new input can wake it.
   */
  retain?: Length
  cron?: Cron
  /**
   * Number of recorded runs per job, up to 100; by default the last ten failed ones. With `values`, a job also keeps
   * what its last run read and changed, up to 64 KiB, for `sidejob rehearse --recorded`.
   */
  history?: number | { runs?: number; values: boolean }
  /** Labels of all jobs of the class; a job can replace each and add its own, at most 8 together. */
  labels?: Record<string, string>
  /** Each run gets an invocation of its own: for heavy or untrusted work. */
  isolate?: boolean
  /**
   * Consecutive lost runs after which the job fails, from 1 to 100; by default 10, and 2 with `isolate`, because such
   * a run most likely killed its invocation.
   */
  maxLost?: number
  /** `'all'`: its runs may also change jobs outside their own tree, adopt any job, and delete with force. */
  reach?: Reach
  /**
   * Values that read-only viewers see as `"[redacted]"`: `args`, `state`, `in`, `out`, `result`, `error` or
   * `progress`, and names after it, like `args.card.number`.
   */
  redact?: string[]
  /** `'door'` checks every write; `'run'` checks only in the run that reads the value. */
  checked?: 'door' | 'run'
  /**
   * If a run asks for another step or wait than its job keeps, or for none: it fails (the default), logs a warning,
   * or ignores it.
   */
  onCodeChange?: 'fail' | 'warn' | 'ignore'
  /**
   * Jobs that wait inside the function stay on the version of the code that began them. The deployment needs
   * `SIDEJOB_VERSION_URL`.
   */
  pin?: boolean
  /** false: no messages on `/sidejob/job/<id>` when the status changes. */
  statusPublish?: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: a list of workers holds workers of every job type
export type Worker<J = any> = WorkerOptions & {
  /** Schema of the args; other args are refused. */
  args?: z.ZodType
  /** Schema of the result; a run that returns another value fails. */
  result?: z.ZodType
  in?: Ports
  out?: Ports
  startup?: (job: J) => unknown
  perform: (job: J) => unknown
  shutdown?: (job: J) => unknown
}

export const workerDefaults = { queue: 'default', timeout: 30_000 } as const

/** The result of `defineWorker`. */
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

/** First values of the input ports of a class. */
export type InputsOf<W extends AnyDefined> = keyof Given<W['in']> extends never
  ? Record<string, never>
  : '*' extends keyof Given<W['in']>
    ? Record<string, unknown[]>
    : { [P in keyof Given<W['in']>]?: ValueOf<Given<W['in']>[P]>[] }

/** Values written to the output ports of a class. */
export type OutputsOf<W extends AnyDefined> = { [P in keyof Given<W['out']>]: ValueOf<Given<W['out']>[P]>[] }

export type ArgsOf<W extends AnyDefined> = z.input<Given<W['args']>>

export type ResultOf<W extends AnyDefined> = z.output<Given<W['result']>>

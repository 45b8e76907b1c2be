import type * as z from 'zod'
import { readWorker } from './core/definition.ts'
import type { Defined, Ending, Ports, Worker, WorkerLimit, WorkerOptions } from './core/worker.ts'
import type { Job } from './engine/run/job.ts'

export { SidejobError } from './core/errors.ts'
export { askedAtOf, type Bucket, type Files, keyOf, type Sink, type StoreOptions, type Upload } from './core/files.ts'
export { fitsGlob } from './core/glob.ts'
export { type Graph, graphText, readGraph } from './core/graph.ts'
export { withGraph } from './core/graph-history.ts'
export { mimeFault, mimePatterns } from './core/mime.ts'
export { adoptions, type FlowFacts, planGraph } from './core/plan.ts'
export { retryAfter } from './core/retry.ts'
export { schemasOf } from './core/schema-hash.ts'
export { requestHeaders } from './core/schemas.ts'
export { callable } from './core/url.ts'
export type { ArgsOf, Defined, InputsOf, OutputsOf, ResultOf } from './core/worker.ts'
export { Later, type Port, port, Terminal } from './core/worker.ts'
export { createEngine as createSidejob, type EngineOptions as SidejobOptions } from './engine/index.ts'
export { Job } from './engine/run/job.ts'
export { CallFailed, type Steps } from './engine/run/steps.ts'

/** A const type parameter infers read-only objects and lists. */
type Frozen<T> = T extends (...given: never[]) => unknown
  ? T
  : T extends object
    ? { readonly [Name in keyof T]: Frozen<T[Name]> }
    : T

// biome-ignore lint/suspicious/noConfusingVoidType: a function without a return statement returns void
type Returned<Result extends z.ZodType> = Frozen<z.input<Result>> | Ending | undefined | void

type Definition<In extends Ports, Out extends Ports, Args extends z.ZodType, Result extends z.ZodType, Return> = Omit<
  WorkerOptions,
  'limits'
> & {
  /** Args that do not match are refused, with the path of the fault. */
  args?: Args
  in?: In
  out?: Out
  /** A result that does not match fails the run. */
  result?: Result
  /** The key of a limit defaults to the class. */
  limits?: readonly WorkerLimit<z.output<Args>>[]
  /** Called before the first run. */
  startup?: (job: Job<In, Out, z.output<Args>>) => unknown
  /**
   * Return nothing or a result to complete the job, or else `job.suspend()`, `job.follow()` or `job.again()`. A thrown
   * error fails the run.
   */
  perform: (job: Job<In, Out, z.output<Args>>) => Return | Promise<Return>
  /** Called as the last run of a terminated job. */
  shutdown?: (job: Job<In, Out, z.output<Args>>) => unknown
}

/**
 * Defines a job class. Throws if the API would refuse its options.
 *
 * @example
 * export const double = defineWorker({
 * class: 'double',
 * in: { n: port(z.number()) },
 * out: { doubled: port(z.number()) },
 * async perform(job) {
 * for await (const { n } of job.inputs('n')) job.write('doubled', n * 2)
 * },
 * })
 */
export const defineWorker = <
  const Class extends string,
  const In extends Ports = Record<never, never>,
  const Out extends Ports = Record<never, never>,
  Args extends z.ZodType = z.ZodType,
  Result extends z.ZodType = z.ZodType,
  // Keeps literal types, so that returned strings match an enum.
  const Return extends Returned<Result> = Returned<Result>,
>(
  definition: Definition<In, Out, Args, Result, Return> & { class: Class },
): Defined<Class, In, Out, Args, Result, Job<In, Out, z.output<Args>>> => {
  readWorker(definition as Worker)
  return definition as Defined<Class, In, Out, Args, Result, Job<In, Out, z.output<Args>>>
}

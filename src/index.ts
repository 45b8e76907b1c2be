// What users import to write workers and to run sidejob.

import type { Ports, Worker, WorkerOptions } from './core/worker.ts'
import type { Job } from './engine/run/job.ts'

export { SidejobError } from './core/errors.ts'
export { type Bucket, type Files, keyOf, type Sink, type StoreOptions, type Upload } from './core/files.ts'
export { fitsGlob } from './core/glob.ts'
export { type Graph, graphText, readGraph, remember } from './core/graph.ts'
export { mimeFault, mimePatterns } from './core/mime.ts'
export { adoptions, type FlowFacts, planGraph } from './core/plan.ts'
export { retryAfter } from './core/retry.ts'
export { requestHeaders } from './core/schemas.ts'
export { callable } from './core/url.ts'
export { Later, type Port, port, Terminal } from './core/worker.ts'
export { createEngine as createSidejob, type EngineOptions as SidejobOptions } from './engine/index.ts'
export { Job } from './engine/run/job.ts'
export { CallFailed, type Steps } from './engine/run/steps.ts'

type Definition<In extends Ports, Out extends Ports> = WorkerOptions & {
  in?: In
  out?: Out
  /** Called before the first run. */
  startup?: (job: Job<In, Out>) => unknown
  /** One run. Returns nothing (completed), `job.suspend()`, `job.again()` or a result; throws to fail. */
  perform: (job: Job<In, Out>) => unknown
  /** The last run of a job that is terminated. */
  shutdown?: (job: Job<In, Out>) => unknown
}

/**
 * Defines a job class: its ports, its options, and the function that performs it.
 *
 * @example
 * export const double = defineWorker({
 *   class: 'double',
 *   in: { n: port(z.number()) },
 *   out: { doubled: port(z.number()) },
 *   async perform(job) {
 *     for await (const { n } of job.inputs('n')) job.write('doubled', n * 2)
 *   },
 * })
 */
export const defineWorker = <
  const In extends Ports = Record<never, never>,
  const Out extends Ports = Record<never, never>,
>(
  definition: Definition<In, Out>,
): Worker<Job<In, Out>> => definition as Worker<Job<In, Out>>

import { type Encoded, encodeValue } from '../../core/codec/value.ts'
import { hasCode } from '../../core/errors.ts'
import type { Changes, RunError, Snapshot } from '../../core/run.ts'
import { Later, Terminal, type Worker } from '../../core/worker.ts'
import { failedWith } from '../jobs/outcome.ts'
import { OlderCode } from './code-change.ts'
import { createDeadlines, type Deadlines } from './deadlines.ts'
import { Job } from './job.ts'
import { RunParts } from './parts.ts'
import type { Stops } from './stops.ts'
import type { JobTools } from './tools.ts'

/** Another worker has taken the run, so this run has no effect. */
export class LostRun extends Error {}

class Timeout extends Error {
  readonly reason = 'timeout'
}

function detailOf(error: unknown): Encoded | undefined {
  const isObject = typeof error === 'object' && error !== null
  const detail = isObject && !(error instanceof Error) ? error : (error as { detail?: unknown } | null)?.detail
  try {
    return detail === undefined ? undefined : encodeValue(detail)
  } catch {
    return encodeValue(String(detail))
  }
}

function messageOf(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return String(thrown)
  const { message } = thrown as { message?: unknown }
  if (typeof message === 'string' && message !== '') return message
  try {
    return JSON.stringify(thrown) ?? String(thrown)
  } catch {
    return Object.prototype.toString.call(thrown)
  }
}

export function runError(error: unknown): RunError {
  const { message, stack, code }: Error & { code?: string } =
    error instanceof Error ? error : { name: 'Error', message: messageOf(error), stack: undefined }
  const detail = detailOf(error)
  return {
    message,
    reason: error instanceof Timeout ? 'timeout' : 'other',
    ...(error instanceof Terminal || code === 'REFUSED' || hasCode(error, 'TOO_LARGE') ? { retry: false } : {}),
    ...(error instanceof Later && error.after > 0 ? { after: error.after } : {}),
    detail,
    ...(stack ? { stack } : {}),
  }
}

async function runHooks(worker: Worker, job: Job, snapshot: Snapshot): Promise<unknown> {
  if (snapshot.run.reason === 'shutdown') return worker.shutdown?.(job)
  if (worker.startup && snapshot.job.ranAt === null) await worker.startup(job)
  return worker.perform(job)
}

class Stop {
  readonly token: string
  #controller: AbortController | undefined
  #reason: Error | undefined

  constructor(token: string) {
    this.token = token
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#reason) this.#controller.abort(this.#reason)
    return this.#controller.signal
  }

  stop(why: Error): void {
    this.#reason ??= why
    this.#controller?.abort(why)
  }
}

/**
 * A failed run changes nothing, except for its counts and log entries.
 *
 * @throws LostRun or OlderCode if another worker has to perform the run
 */
export async function runFunction(
  worker: Worker,
  snapshot: Snapshot,
  tools: JobTools,
  { deadlines = createDeadlines(), stops }: { deadlines?: Deadlines; stops?: Stops } = {},
): Promise<Changes> {
  const { token, timeout } = snapshot.run
  const stop = new Stop(token)
  stops?.add(stop)
  const { promise, resolve: ended, reject: refused } = Promise.withResolvers<unknown>()
  const parts = new RunParts(snapshot, tools, worker, { ended, refused })
  const job = new Job(parts, stop)
  const leave = deadlines.add(timeout, () => {
    const late = new Timeout(`the run took longer than ${timeout} ms`)
    stop.stop(late)
    refused(late)
  })
  try {
    runHooks(worker, job, snapshot).then(ended, refused)
    return await parts.finish(await promise)
  } catch (error) {
    if (error instanceof LostRun || error instanceof OlderCode) throw error
    return { ...failedWith(runError(error)), counts: parts.buffer.counts, ops: parts.buffer.logs }
  } finally {
    leave()
    stops?.delete(stop)
    parts.buffer.close()
  }
}

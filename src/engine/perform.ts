// Runs a worker's function against a snapshot: startup, perform or shutdown, within its time.

import type { Changes, RunError, Snapshot } from '../core/run.ts'
import { type Wire, wire } from '../core/value.ts'
import { Terminal, type Worker, workerDefaults } from '../core/worker.ts'
import { Job, type JobTools } from './job.ts'
import { LAST } from './settle.ts'

export const timeoutOf = (worker: Pick<Worker, 'timeout'>, snapshot: Snapshot): number =>
  snapshot.run.timeout || worker.timeout || workerDefaults.timeout

/** A run of ours that somebody else has taken over: nothing it does counts any more. */
export class LostRun extends Error {}

class Timeout extends Error {
  readonly reason = 'timeout'
}

/** What an error carries, as far as a value can hold it: never the reason for another error. */
function detailOf(error: unknown): Wire | undefined {
  const { detail } = (error ?? {}) as { detail?: unknown }
  try {
    return detail === undefined ? undefined : wire(detail)
  } catch {
    return wire(String(detail))
  }
}

/** What is kept of an error: its message, whether trying again makes sense, and for people its stack. */
export function runError(error: unknown): RunError {
  const { message, stack, code }: Error & { code?: string } = error instanceof Error ? error : new Error(String(error))
  const detail = detailOf(error)
  return {
    message,
    reason: error instanceof Timeout ? 'timeout' : 'other',
    ...(error instanceof Terminal || code === 'REFUSED' ? { retry: false } : {}),
    ...(detail === undefined ? {} : { detail }),
    ...(stack ? { stack } : {}),
  }
}

async function steps(worker: Worker, job: Job, snapshot: Snapshot): Promise<unknown> {
  if (snapshot.run.reason === 'shutdown') return worker.shutdown?.(job)
  if (snapshot.job.ranAt === null) await worker.startup?.(job)
  return worker.perform(job)
}

/** The longest time that a timer can take; a longer one would be over at once. */
const LONGEST = 2 ** 31 - 1

/** Rejects at the timeout, and aborts the signal, so that the function can stop what it does. */
function within<T>(ms: number, controller: AbortController, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => {
        const timeout = new Timeout(`the run took longer than ${ms} ms`)
        controller.abort(timeout)
        reject(timeout)
      },
      Math.min(ms, LONGEST),
    )
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/**
 * What the run did, or how it failed. A failed run has done nothing but fail.
 *
 * @example const changes = await perform(zip, snapshot, tools)
 */
export async function perform(worker: Worker, snapshot: Snapshot, tools: Omit<JobTools, 'signal'>): Promise<Changes> {
  const controller = new AbortController()
  const job = new Job(worker, snapshot, { ...tools, signal: controller.signal })
  try {
    const ending = await within(timeoutOf(worker, snapshot), controller, steps(worker, job, snapshot))
    return await job.finish(ending)
  } catch (error) {
    if (error instanceof LostRun) throw error
    return { end: 'failed', n: LAST, error: runError(error) }
  } finally {
    job.close()
  }
}

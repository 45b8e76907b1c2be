// Runs a worker's function against a snapshot: startup, perform or shutdown, within its time.

import type { Changes, RunError, Snapshot } from '../core/run.ts'
import { type Wire, wire } from '../core/value.ts'
import { Terminal, type Worker, workerDefaults } from '../core/worker.ts'
import { Job, type JobTools } from './job.ts'

export const timeoutOf = (worker: Pick<Worker, 'timeout'>, snapshot: Snapshot): number =>
  snapshot.run.timeout || worker.timeout || workerDefaults.timeout

/** A run of ours that somebody else has taken over: nothing it does counts any more. */
export class LostRun extends Error {}

class Timeout extends Error {
  readonly reason = 'timeout'
}

const detailOf = (error: unknown): Wire | undefined => {
  const detail = (error as { detail?: unknown }).detail
  return detail === undefined ? undefined : wire(detail)
}

/** What is kept of an error: its message, whether trying again makes sense, and for people its stack. */
export function runError(error: unknown): RunError {
  const { message, stack, code }: Error & { code?: string } = error instanceof Error ? error : new Error(String(error))
  const detail = detailOf(error ?? {})
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

/** Rejects at the timeout, and aborts the signal, so that the function can stop what it does. */
function within<T>(ms: number, controller: AbortController, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const timeout = new Timeout(`the run took longer than ${ms} ms`)
      controller.abort(timeout)
      reject(timeout)
    }, ms)
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
    return job.finish(ending)
  } catch (error) {
    if (error instanceof LostRun) throw error
    return { end: 'failed', error: runError(error), ...job.close() }
  } finally {
    job.close()
  }
}

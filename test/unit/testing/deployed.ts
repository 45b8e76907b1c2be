import type { Worker } from '../../../src/core/worker.ts'
import { defineWorker, type Job, port } from '../../../src/index.ts'
import { sandbox } from '../../../src/testing/index.ts'

export type Perform = (job: Job) => Promise<unknown>

/** Seconds. */
export const DAY = 86_400

export function deployed(first: Perform, options: Partial<Worker> = {}) {
  let perform = first
  const worker = defineWorker({
    class: 'edited',
    in: { paid: port(), other: port() },
    ...options,
    perform: (job: Job) => perform(job),
  } as Worker & { class: string })
  const job = sandbox(worker)
  return { job, edit: (next: Perform) => void (perform = next) }
}

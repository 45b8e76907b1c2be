import * as z from 'zod'
import { SidejobError } from './errors.ts'
import { check, faultText } from './issues.ts'
import { zodCheck } from './json-schema/zod.ts'
import type { Labels, LabelsText } from './labels.ts'
import { parseRepeat } from './repeat.ts'
import type { Retry } from './retry.ts'
import { type CodeWorker, codeRetry, codeWorker, labels } from './schemas.ts'
import { type RetryOptions, type Worker, workerDefaults } from './worker.ts'

const refused = (message: string, cause?: unknown) => new SidejobError('BAD_REQUEST', message, { cause })

function nameOf(worker: unknown, place: string): string {
  const { queue = workerDefaults.queue, class: name } = (worker ?? {}) as Partial<Worker>
  return typeof name === 'string' ? `class ${name} of queue ${String(queue)}` : place
}

function checkCron({ cron }: CodeWorker, { args, checked }: Worker): void {
  if (!cron) return
  const { expression, tz, missed } = cron
  try {
    parseRepeat({ cron: expression, ...(tz ? { tz } : {}), ...(missed ? { missed } : {}) })
  } catch (error) {
    throw refused((error as Error).message.replace(/^repeat: /, 'cron: '), error)
  }
  const fault = args && checked !== 'run' && zodCheck(args)(cron.args ?? null, 0)
  if (fault) throw refused(`cron: ${faultText({ ...fault, path: ['args', ...fault.path] })}`)
}

export function readWorker(worker: Worker, place = 'the definition'): CodeWorker {
  if (typeof worker !== 'object' || worker === null)
    throw refused(
      `${place}: expected a class that defineWorker returned, got ${String(worker)}. Look for a circular or misspelled import`,
    )
  try {
    const read = check(codeWorker, worker)
    checkCron(read, worker)
    return read
  } catch (error) {
    if (!(error instanceof SidejobError)) throw error
    throw refused(`${nameOf(worker, place)}: ${error.message}`, error)
  }
}

export const readRetry = (retry: RetryOptions): Retry => check(z.strictObject({ retry: codeRetry }), { retry }).retry

export const checkedLabels = (given: Labels): LabelsText => check(z.strictObject({ labels }), { labels: given }).labels

export function checkWorkers(workers: readonly Worker[]): void {
  if (!Array.isArray(workers)) throw refused(`functions: expected a list of classes, got ${String(workers)}`)
  const places = new Map<string, number>()
  for (const [i, worker] of workers.entries()) {
    const { queue = workerDefaults.queue, class: name } = readWorker(worker, `functions[${i}]`)
    const key = `${queue}/${name}`
    const first = places.get(key)
    if (first !== undefined)
      throw refused(
        `class ${name} is defined twice for queue ${queue}: functions[${first}] and functions[${i}]; rename or remove one of them`,
      )
    places.set(key, i)
  }
}

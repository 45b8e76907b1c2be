import type { Worker } from '../core/worker.ts'
import { type Ran, type SandboxOptions, sandbox } from './sandbox.ts'

export type CallOptions = SandboxOptions & {
  defaults?: Record<string, unknown>
}

export type Called = Ran & {
  out: Record<string, unknown[]>
  defaults: Record<string, unknown>
  unread: Record<string, unknown[]>
  state: Record<string, unknown>
  runAt?: number
}

/**
 * Performs one run of a worker without Redis.
 *
 * @example
 * const { out, end } = await call(zip, { left: [1], right: ['a'] }) // out: { pair: [[1, 'a']] }, end: 'completed'
 */
export async function call(
  worker: Worker,
  inputs: Record<string, unknown[]> = {},
  { defaults = {}, ...options }: CallOptions = {},
): Promise<Called> {
  const job = sandbox(worker, options)
  for (const [port, value] of Object.entries(defaults)) job.setDefault(port, value)
  for (const [port, values] of Object.entries(inputs)) job.write(port, ...values)
  const ran = await job.run()
  const { out, defaults: outDefaults, unread, state, runAt } = job
  return { ...ran, out, defaults: outDefaults, unread, state, ...(runAt === undefined ? {} : { runAt }) }
}

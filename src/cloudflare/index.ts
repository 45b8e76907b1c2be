import { WorkerEntrypoint } from 'cloudflare:workers'
import type { SentOutcome } from '../redis/changes.ts'
import type { ClaimedJob } from '../redis/types.ts'
import { performIsolated, type SidejobEnv } from './worker.ts'

export type { RunReport } from '../engine/run/report.ts'
export type { Hook, HookEvent, HookWrite } from './hooks.ts'
export * from './worker.ts'

/**
 * Gives each run of a function with `isolate: true` its own invocation.
 *
 * @example export { Isolate } from 'sidejob/cloudflare'
 */
export class Isolate extends WorkerEntrypoint<SidejobEnv> {
  run(claimed: ClaimedJob, tenant?: string): Promise<SentOutcome | undefined> {
    return performIsolated(claimed, this.env, tenant)
  }
}

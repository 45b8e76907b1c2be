// What the entry of a Worker imports.

import { WorkerEntrypoint } from 'cloudflare:workers'
import type { SentOutcome } from '../redis/changes.ts'
import type { ClaimedJob } from '../redis/types.ts'
import { performIsolated, type SidejobEnv } from './worker.ts'

export type { RunReport } from '../engine/run/report.ts'
export type { Hook, HookEvent, HookWrite } from './hooks.ts'
export * from './worker.ts'

/**
 * One run in an invocation of its own, for functions with `isolate: true`: it is called when the entry exports it.
 *
 * @example export { Isolate } from 'sidejob/cloudflare'
 */
export class Isolate extends WorkerEntrypoint<SidejobEnv> {
  run(lent: ClaimedJob, tenant?: string): Promise<SentOutcome | undefined> {
    return performIsolated(lent, this.env, tenant)
  }
}

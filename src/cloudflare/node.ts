import type { SentOutcome } from '../redis/changes.ts'
import type { ClaimedJob } from '../redis/types.ts'
import { performIsolated, type SidejobEnv } from './worker.ts'

export type { RunReport } from '../engine/run/report.ts'
export type { Hook, HookEvent, HookWrite } from './hooks.ts'
export * from './worker.ts'

/** Node has no entrypoints, so an isolated run shares this process. */
export class Isolate {
  protected env: SidejobEnv

  constructor(_context: unknown, env: SidejobEnv) {
    this.env = env
  }

  run(claimed: ClaimedJob, tenant?: string): Promise<SentOutcome | undefined> {
    return performIsolated(claimed, this.env, tenant)
  }
}

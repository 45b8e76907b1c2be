import { RETRY_KEPT_MS } from '../core/idempotency.ts'
import type { Status } from '../core/job.ts'
import type { PastRun } from '../core/run.ts'
import { DAY } from '../core/units.ts'
import type { Client } from '../redis/client.ts'
import type { Words } from '../redis/ops.ts'
import type { Store } from '../redis/store.ts'
import type { ClaimedJob, Once, Ring } from '../redis/types.ts'
import type { Call, JobView } from './engine.ts'
import type { Classes } from './jobs/classes.ts'
import type { Constraints } from './jobs/constraints.ts'
import type { Registry } from './jobs/registry.ts'
import type { EagerLane } from './lane/dispatcher.ts'
import type { LongPoll } from './lane/long-poll.ts'
import type { Guest } from './lane/ringer.ts'
import type { Payloads } from './remote/callbacks.ts'
import type { Versions } from './remote/versions.ts'
import type { Executor } from './run/executor.ts'

export type Context = {
  store: Store
  client: Client
  registry: Registry
  classes: Classes
  constraints: Constraints
  executor: Executor
  versions: Versions
  longPoll: LongPoll
  ring: (rings: Ring[], guest?: Guest) => Promise<void>
  eager?: { start: () => Promise<EagerLane>; goOn: (lane: EagerLane, claimed: ClaimedJob[]) => Promise<void> }
  announce: () => Promise<void>
  change: (job: string, ops: Words[], call?: Call, period?: number) => Promise<string[]>
  view: (job: string) => Promise<JobView>
  viewWithRuns: (job: string) => Promise<{ job: JobView; runs: PastRun[] }>
  allowHosts: readonly string[]
  payloads: Payloads
  now: () => number
  random: () => number
}

export const stepOf = ([id, status]: string[]) => ({
  id: Number(id),
  status: status as Status,
})

/** The random key makes our own retries safe if the caller sent no key. */
export const onceOf = (call: Call | undefined, period?: number): Once =>
  call?.key
    ? { key: call.key, period: period ?? call.keep ?? DAY, fingerprint: call.fingerprint ?? '' }
    : { key: `own:${crypto.randomUUID()}`, period: period ?? RETRY_KEPT_MS }

import type { Changes } from '../../core/run.ts'
import type { RunOutcome } from '../../redis/changes.ts'
import type { Store } from '../../redis/store.ts'
import type { ClaimedJob } from '../../redis/types.ts'
import { outcomeOf } from '../jobs/outcome.ts'
import { type Registered, type Registry, runnerName } from '../jobs/registry.ts'
import type { RunTrace } from '../trace/tracer.ts'

type Run = { found?: Registered; trace?: RunTrace; unreached?: boolean }

/** Turns the changes of a run into its outcome. */
export type Decide = (claimed: ClaimedJob, changes: Changes, run?: Run) => Promise<RunOutcome>

type Parts = {
  store: Store
  registry: Registry
  random: () => number
  pinOf: (claimed: ClaimedJob, found: Registered) => string | undefined
}

export const createDecide =
  ({ store, registry, random, pinOf }: Parts): Decide =>
  (claimed, changes, { found, trace, unreached } = {}) =>
    outcomeOf(claimed.document.token!, changes, {
      document: claimed.document,
      vault: store.vault,
      retry: found?.definition.retry,
      by: found && runnerName(found),
      reach: found?.definition.reach,
      pinsTo: found && pinOf(claimed, found),
      found,
      registry,
      random,
      now: store.now(),
      unreached,
      traceparent: trace?.forChildren,
      writer: trace?.traceparent,
    })

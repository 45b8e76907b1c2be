import type { Changes } from '../../core/run.ts'
import type { RunOutcome } from '../../redis/changes.ts'
import type { Store } from '../../redis/store.ts'
import type { ClaimedJob } from '../../redis/types.ts'
import { outcomeOf } from '../jobs/outcome.ts'
import { performedBy, type Registered, type Registry } from '../jobs/registry.ts'
import type { RunTrace } from '../trace/tracer.ts'

type Run = { found?: Registered; trace?: RunTrace; unreached?: boolean }

/** Turns the changes of a run into its outcome. */
export type Decide = (lent: ClaimedJob, changes: Changes, run?: Run) => Promise<RunOutcome>

type Parts = {
  store: Store
  registry: Registry
  random: () => number
  pinOf: (lent: ClaimedJob, found: Registered) => string | undefined
}

export const createDecide =
  ({ store, registry, random, pinOf }: Parts): Decide =>
  (lent, changes, { found, trace, unreached } = {}) =>
    outcomeOf(lent.document.token!, changes, {
      document: lent.document,
      vault: store.vault,
      retry: found?.definition.retry,
      by: found && performedBy(found),
      reach: found?.definition.reach,
      pinsTo: found && pinOf(lent, found),
      found,
      registry,
      random,
      now: store.now(),
      unreached,
      traceparent: trace?.forChildren,
      writer: trace?.traceparent,
    })

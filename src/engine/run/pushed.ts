import type { RunOutcome } from '../../redis/changes.ts'
import { setRun } from '../../redis/ops.ts'
import type { Store } from '../../redis/store.ts'
import type { ClaimedJob } from '../../redis/types.ts'
import { schemaOfClass } from '../jobs/checks.ts'
import { RELEASE_MS, released } from '../jobs/outcome.ts'
import { type Registered, timeoutOf } from '../jobs/registry.ts'
import { type CircuitBreakers, endpointOf, PUSHED, waitForHost } from '../remote/circuit-breaker.ts'
import { type PushOptions, push } from '../remote/push.ts'
import type { RunTrace } from '../trace/tracer.ts'
import type { Decide } from './decide.ts'
import { hasFailed, type Pinned } from './pinned.ts'
import { snapshotOf } from './snapshot.ts'

const GONE: ReadonlySet<number> = new Set([404, 410])
/** If a lane has claimed a job whose class has just moved to pull workers, the job is released for this time. */
const MOVED_CLASS_MS = 1_000
/** Milliseconds until the first heartbeat of a push worker that answered 202. */
const LATER_LEASE_MS = 60_000

type Parts = {
  store: Store
  push: PushOptions
  random: () => number
  breakers: CircuitBreakers
  pinned: Pinned
  decide: Decide
}

/** Performs runs of push workers. */
export function createPushed({ store, push: options, random, breakers, pinned, decide }: Parts) {
  const spare = (claimed: ClaimedJob, host: string, until: number): RunOutcome =>
    waitForHost(claimed, host.slice(PUSHED.length), until, store.now(), random())

  return async (claimed: ClaimedJob, found: Registered, trace?: RunTrace): Promise<RunOutcome | undefined> => {
    const { pinnedTo } = claimed.document
    const address = found.definition.push && { ...found.definition.push, ...(pinnedTo ? { url: pinnedTo } : {}) }
    if (!address) return released(claimed, setRun.wait({ ms: found.definition.pull ? MOVED_CLASS_MS : RELEASE_MS }))
    const host = endpointOf(address.url)
    const permit = await breakers.pass(host, hasFailed(claimed))
    const silence = (why: string) => pinned.wait(claimed, `the push worker at ${pinnedTo} ${why}`)
    if (permit.state === 'open') return pinnedTo ? silence('keeps failing') : spare(claimed, host, permit.until!)
    const snapshot = snapshotOf(claimed, timeoutOf(found), schemaOfClass(found))
    const call = (traceparent = claimed.document.traceparent) => push(address, snapshot, { ...options, traceparent })
    const { changes, ...outcome } = await (trace
      ? trace.span(`POST ${new URL(address.url).host}`, call, 'client')
      : call())
    // The answer counts even if the circuit breaker cannot be updated.
    const after = await breakers.leave(host, permit, outcome).catch(() => permit)
    const isGone = outcome.unreached || GONE.has(outcome.status ?? 0)
    if (pinnedTo && isGone) return silence(outcome.unreached ? 'cannot be reached' : `answered ${outcome.status}`)
    // A failed trial call counts as a failure of its job, so a job that always fails ends eventually.
    if (outcome.down && after.state === 'open' && permit.state === 'closed') return spare(claimed, host, after.until!)
    if (changes !== 'later') return decide(claimed, changes, { found, trace, unreached: outcome.unreached })
    const { queue, token, redeliverAfterMs } = claimed.document
    await store.extend(queue, [token!], redeliverAfterMs ?? LATER_LEASE_MS, { own: redeliverAfterMs !== undefined })
    return undefined
  }
}

// Messages for more listeners than one script may reach: a job for each such channel hands them on, a page in each run.
// What a run does is in Redis alone (lib/port/relay.lua), so a run that is lost has handed on nothing.

import { Lru } from '../../core/lru.ts'
import { sleep } from '../../core/sleep.ts'
import type { RunOutcome } from '../../redis/changes.ts'
import { ops } from '../../redis/ops.ts'
import type { ClaimedJob } from '../../redis/types.ts'

export const RELAYS = { queue: 'sidejob.relay', class: 'relay' } as const

/** Relays whose last run is remembered. */
const REMEMBERED = 100
/** A relay rests four times as long as its last step took: it uses at most a fifth of the time of Redis. */
const REST = 4
/** Milliseconds. A step that took longer has waited for something else than Redis. */
const LONGEST_STEP = 500

type RelayOptions = { elapsed?: () => number; rest?: (ms: number) => Promise<void> }

/**
 * Performs runs of relays. A run that follows another one of its relay rests first.
 *
 * @example registry.serve(RELAYS, { inner: createRelay(), longest: slice })
 */
export function createRelay({ elapsed = () => performance.now(), rest = sleep }: RelayOptions = {}) {
  /** When the last run of each relay was given to Redis. */
  const given = new Lru<number, number>(REMEMBERED)
  return async ({ id, document }: ClaimedJob): Promise<RunOutcome> => {
    const took = elapsed() - (given.get(id) ?? Number.NEGATIVE_INFINITY)
    if (took <= LONGEST_STEP) await rest(REST * took)
    given.set(id, elapsed())
    return { token: document.token!, n: 0, end: 'completed', words: ops.relay() }
  }
}

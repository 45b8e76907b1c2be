// Each run relays one page. lib/port/relay.lua does all the work, so a lost run has relayed nothing.

import { Lru } from '../../core/lru.ts'
import { sleep } from '../../core/sleep.ts'
import type { RunOutcome } from '../../redis/changes.ts'
import { ops } from '../../redis/ops.ts'
import type { ClaimedJob } from '../../redis/types.ts'

export const RELAYS = { queue: 'sidejob.relay', class: 'relay' } as const

const REMEMBERED = 100
/** A relay rests four times as long as its last page took, so it uses at most a fifth of Redis' time. */
const REST = 4
const LONGEST_STEP = 500

type RelayOptions = { elapsed?: () => number; rest?: (ms: number) => Promise<void> }

export function createRelay({ elapsed = () => performance.now(), rest = sleep }: RelayOptions = {}) {
  const given = new Lru<number, number>(REMEMBERED)
  return async ({ id, document }: ClaimedJob): Promise<RunOutcome> => {
    const took = elapsed() - (given.get(id) ?? Number.NEGATIVE_INFINITY)
    if (took <= LONGEST_STEP) await rest(REST * took)
    given.set(id, elapsed())
    return { token: document.token!, n: 0, end: 'completed', words: ops.relay() }
  }
}

// The clock of an isolate, which a test may move: together with that of the QStash stand-in, which outlives us.

import { SidejobError } from '../core/errors.ts'
import type { Environment } from '../environment.ts'

/** @example const clock = createClock(); clock.now() */
export function createClock() {
  // Milliseconds by which a test has moved it.
  let offset = 0
  let isInTime = false

  /** The stand-in knows how far it has been moved. */
  async function advance(env: Environment, ms: number): Promise<void> {
    // Before it does: what it delivers at its new time must find us there.
    offset += ms
    const asked = { method: 'POST', body: JSON.stringify({ advance: ms }) }
    const answer = await fetch(`${env.QSTASH_URL}/test/clock`, asked)
    if (!answer.ok && ms !== 0) {
      offset -= ms
      // Only ours would move, and then every bell is one of another time.
      throw new SidejobError(
        'REFUSED',
        "expected a stack whose QStash's clock can be moved, got one that was started without SIDEJOB_TEST_CLOCK=1: start it again",
      )
    }
    const { moved = offset } = answer.ok ? ((await answer.json()) as { moved: number }) : {}
    offset = moved
    isInTime = true
  }

  return {
    get offset() {
      return offset
    },
    now: () => Date.now() + offset,
    advance,
    /** An isolate that is new finds the clock where a test has left it. */
    catchUp: async (env: Environment) => {
      if (env.SIDEJOB_TEST_CLOCK === '1' && !isInTime) await advance(env, 0)
    },
  }
}

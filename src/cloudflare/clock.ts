import { SidejobError } from '../core/errors.ts'
import type { Environment } from '../environment.ts'

export function createClock() {
  // In milliseconds.
  let offset = 0
  let isInTime = false

  async function advance(env: Environment, ms: number): Promise<void> {
    // The clock of the Worker advances first, because QStash delivers due messages as soon as its own clock advances.
    offset += ms
    const asked = { method: 'POST', body: JSON.stringify({ advance: ms }) }
    const answer = await fetch(`${env.QSTASH_URL}/test/clock`, asked)
    if (!answer.ok && ms !== 0) {
      offset -= ms
      throw new SidejobError(
        'REFUSED',
        'the QStash of this stack has no test clock: restart the stack with SIDEJOB_TEST_CLOCK=1',
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
    /** Gets the offset from QStash, because each new isolate starts at the real time. */
    catchUp: async (env: Environment) => {
      if (env.SIDEJOB_TEST_CLOCK === '1' && !isInTime) await advance(env, 0)
    },
  }
}

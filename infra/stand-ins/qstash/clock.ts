// The clock shows the real time plus the time added by advance(). One timeout waits for the earliest alarm.
import { insert } from './sorted.ts'

export type Timer = { at: number; ring: () => void }
export type Clock = ReturnType<typeof createClock>
type Options = {
  /** Real milliseconds to wait for the answer of a receiver before the clock advances without this answer. */
  maxWait?: number
}

// setTimeout accepts at most 2^31 - 1 ms, so a longer wait needs several timeouts.
const LONGEST_TIMEOUT = 2 ** 31 - 1

export function createClock(real: () => number) {
  const alarms: Timer[] = []
  const activity = createActivity()
  let added = 0
  let armed: { at: number; timeout: NodeJS.Timeout } | undefined
  let immediate: NodeJS.Immediate | undefined
  let stopped = false

  const now = () => real() + added
  const earliest = () => alarms[0]?.at ?? Number.POSITIVE_INFINITY

  return {
    now,
    moved: () => added,
    begin: activity.begin,

    at(time: number, ring: () => void): Timer {
      const timer = { at: time, ring }
      insert(alarms, timer, ({ at }) => at)
      wake()
      return timer
    },

    cancel(timer: Timer | undefined): void {
      const place = timer ? alarms.indexOf(timer) : -1
      if (place >= 0) alarms.splice(place, 1)
    },

    async advance(ms: number, { maxWait = 1_000 }: Options = {}): Promise<void> {
      const target = now() + ms
      await settle(maxWait)
      while (earliest() <= target) {
        moveTo(earliest())
        await settle(maxWait)
      }
      moveTo(target)
      wake()
    },

    jump(ms: number): void {
      moveTo(now() + ms)
      wake()
    },

    stop(): void {
      stopped = true
      clearTimeout(armed?.timeout)
      clearImmediate(immediate)
    },
  }

  function moveTo(time: number) {
    added += Math.max(0, time - now())
    clearTimeout(armed?.timeout)
    armed = undefined
  }

  async function settle(maxWait: number) {
    do {
      ringDue()
      await new Promise(setImmediate)
      await activity.quiet(maxWait)
    } while (!stopped && earliest() <= now())
  }

  function ringDue() {
    while (!stopped && earliest() <= now()) alarms.shift()!.ring()
  }

  function wake() {
    if (stopped || !alarms.length) return
    if (earliest() > now()) return arm()
    immediate ??= setImmediate(() => {
      immediate = undefined
      ringDue()
      wake()
    })
  }

  function arm() {
    const at = earliest()
    if (armed && armed.at <= at) return
    clearTimeout(armed?.timeout)
    const started = real()
    // Add a millisecond, because a timeout may fire slightly early.
    const wait = Math.min(at - now() + 1, LONGEST_TIMEOUT)
    const timeout = setTimeout(() => {
      armed = undefined
      ringDue()
      if (real() !== started) wake()
    }, wait)
    armed = { at, timeout }
  }
}

function createActivity() {
  const open = new Set<symbol>()
  const waiting = new Set<() => void>()

  return {
    begin(): () => void {
      const task = Symbol()
      open.add(task)
      return () => {
        if (open.delete(task) && !open.size) for (const resume of waiting) resume()
      }
    },

    async quiet(maxWait: number): Promise<void> {
      if (!open.size) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const timeout = setTimeout(resolve, maxWait)
      waiting.add(resolve)
      await promise
      clearTimeout(timeout)
      waiting.delete(resolve)
      // The next advance does not wait again for receivers that have not answered.
      open.clear()
    },
  }
}

// The runs of a lane that are under way: so many at once, what they did to be taken as they end.

import type { RunOutcome } from '../../redis/changes.ts'
import type { ClaimedJob } from '../../redis/types.ts'

const pause = (ms: number): { over: Promise<void>; cancel: () => void } => {
  let timer: ReturnType<typeof setTimeout>
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  return { over, cancel: () => clearTimeout(timer) }
}

/**
 * Performs what is added, at most `limit` at a time; each is told when it was asked for.
 *
 * @example flight.add(lent, performance.now()); await flight.landed(1_000); const done = flight.take()
 */
export function createInFlight(
  limit: number,
  perform: (lent: ClaimedJob, asked: number) => Promise<RunOutcome | undefined>,
) {
  /** The same job may be lent again while a run of it that was lost still goes on. */
  const open = new Set<ClaimedJob>()
  const waiting: { lent: ClaimedJob; asked: number }[] = []
  let running = 0
  let done: RunOutcome[] = []
  let fault: { error: unknown } | undefined
  let tell = () => {}
  let tellAll = () => {}

  const landing = (): Promise<void> =>
    new Promise((resolve) => {
      tell = resolve
    })

  async function run({ lent, asked }: (typeof waiting)[number]): Promise<void> {
    running++
    try {
      const settled = await perform(lent, asked)
      if (settled) done.push(settled)
    } catch (error) {
      fault ??= { error }
    }
    running--
    open.delete(lent)
    next()
    tell()
    if (open.size === 0) tellAll()
  }

  function next(): void {
    while (running < limit && waiting.length) void run(waiting.shift()!)
  }

  return {
    add(lent: readonly ClaimedJob[], asked: number): void {
      for (const one of lent) {
        open.add(one)
        waiting.push({ lent: one, asked })
      }
      next()
    },
    /** How many have not ended. */
    get size(): number {
      return open.size
    },
    /** Nothing is under way, and nothing waits to be taken: what ends while a commit is under way is for the next. */
    get idle(): boolean {
      return open.size === 0 && done.length === 0 && !fault
    },
    tokens: (): string[] => Array.from(open, ({ document }) => document.token!),
    /** What has ended since it was last asked for; throws what a run could not be performed for. */
    take(): RunOutcome[] {
      if (fault) throw fault.error
      const ended = done
      done = []
      return ended
    },
    /** Until the next one ends. */
    async next(): Promise<void> {
      if (open.size > 0 && done.length === 0) await landing()
    },
    /** Until there is something to be taken, of these or of those that are yet to come. */
    async ended(): Promise<void> {
      if (done.length === 0 && !fault) await landing()
    },
    /** Until all have ended, but no longer than this. */
    async landed(ms: number): Promise<void> {
      if (open.size === 0) return
      const { over, cancel } = pause(ms)
      const all = new Promise<void>((resolve) => {
        tellAll = resolve
      })
      await Promise.race([all, over])
      cancel()
    },
  }
}

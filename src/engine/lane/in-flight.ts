import type { RunOutcome } from '../../redis/changes.ts'
import type { ClaimedJob } from '../../redis/types.ts'

export function createInFlight(
  limit: number,
  perform: (claimed: ClaimedJob, asked: number) => Promise<RunOutcome | undefined>,
) {
  /** The set contains claims and not ids, because a job may be claimed again before its lost run ends. */
  const open = new Set<ClaimedJob>()
  const waiting: { claimed: ClaimedJob; asked: number }[] = []
  let running = 0
  let done: RunOutcome[] = []
  let fault: { error: unknown } | undefined
  let wake = () => {}
  let tellAll = () => {}

  function landing(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    wake = resolve
    return promise
  }

  const fail = (error: unknown): void => {
    fault ??= { error }
  }

  async function run({ claimed, asked }: (typeof waiting)[number]): Promise<void> {
    running++
    try {
      const settled = await perform(claimed, asked)
      if (settled) done.push(settled)
    } catch (error) {
      fail(error)
    }
    running--
    open.delete(claimed)
    next()
    wake()
    if (open.size === 0) tellAll()
  }

  function next(): void {
    while (running < limit && waiting.length) void run(waiting.shift()!)
  }

  return {
    add(claimed: readonly ClaimedJob[], asked: number): void {
      for (const one of claimed) {
        open.add(one)
        waiting.push({ claimed: one, asked })
      }
      next()
    },
    get size(): number {
      return open.size
    },
    get idle(): boolean {
      return open.size === 0 && done.length === 0 && !fault
    },
    get failed(): boolean {
      return fault !== undefined
    },
    fail,
    tokens: (): string[] => Array.from(open, ({ document }) => document.token!),
    /** Throws the error of a failed run after the other runs have ended and `take` has returned their outcomes. */
    take(): RunOutcome[] {
      if (fault && open.size === 0 && done.length === 0) throw fault.error
      const ended = done
      done = []
      return ended
    },
    async next(): Promise<void> {
      if (open.size > 0 && done.length === 0) await landing()
    },
    async ended(): Promise<void> {
      if (done.length === 0 && !fault) await landing()
    },
    async landed(ms: number): Promise<void> {
      if (open.size === 0) return
      const { promise, resolve } = Promise.withResolvers<void>()
      tellAll = resolve
      const timer = setTimeout(resolve, ms)
      await promise
      clearTimeout(timer)
    },
  }
}

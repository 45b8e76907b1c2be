import { setTimeout as sleep } from 'node:timers/promises'

const TRIES = 5
const MAX_WAIT_MS = 30_000

const waitOf = (named: string | null, attempt: number): number =>
  Math.min(named === null ? 1_000 * 2 ** attempt : Number(named) * 1_000 || 0, MAX_WAIT_MS)

export async function fetchAgain(url: string, init: RequestInit): Promise<Response> {
  for (let attempt = 0; ; attempt++) {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(30_000) })
    if (response.status !== 429 || attempt === TRIES - 1) return response
    await sleep(waitOf(response.headers.get('retry-after'), attempt))
  }
}

type Refusal = Error & { status?: number }

/** `delayOf`: seconds, null for the usual delay, or undefined to give up. */
async function repeated<T>(ask: () => Promise<T>, delayOf: (error: Refusal) => string | null | undefined): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await ask()
    } catch (error) {
      const named = delayOf(error as Refusal)
      if (named === undefined || attempt === TRIES - 1) throw error
      await sleep(waitOf(named, attempt))
    }
  }
}

/** A call over the daily limit is not repeated, because waiting would take hours. */
export const askAgain = <T>(ask: () => Promise<T>): Promise<T> =>
  repeated(ask, ({ name, status }) => (status === 429 && name !== 'QstashDailyRatelimitError' ? null : undefined))

const BUSY = /too many requests|rate limit|"Retry-After" header indicating you should wait (\d+) second/i

export const runAgain = <T>(run: () => Promise<T>): Promise<T> =>
  repeated(run, ({ message }) => (BUSY.test(message) ? (/wait (\d+) second/.exec(message)?.[1] ?? null) : undefined))

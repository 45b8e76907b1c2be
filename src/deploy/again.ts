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

type Refusal = { name?: string; status?: number }

/** A call over the daily limit is not repeated, because waiting would take hours. */
export async function askAgain<T>(ask: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await ask()
    } catch (error) {
      const { name, status } = error as Refusal
      if (status !== 429 || name === 'QstashDailyRatelimitError' || attempt === TRIES - 1) throw error
      await sleep(waitOf(null, attempt))
    }
  }
}

const BUSY = /too many requests|rate limit|"Retry-After" header indicating you should wait (\d+) second/i

export async function runAgain<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      const { message } = error as Error
      if (!BUSY.test(message) || attempt === TRIES - 1) throw error
      await sleep(waitOf(/wait (\d+) second/.exec(message)?.[1] ?? null, attempt))
    }
  }
}

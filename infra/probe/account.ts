import { databaseOf } from '../../src/deploy/database.ts'
import type { Env } from '../../src/deploy/settings.ts'
import type { Where } from '../../src/deploy/tick.ts'
import { is, type Question, unknown } from './verdict.ts'

export function databaseQuestion(env: Env): Question {
  const about = 'the plan of the database'
  const expected = 'eviction off, no read regions, no budget'
  if (!env.UPSTASH_EMAIL || !env.UPSTASH_API_KEY)
    return unknown(about, expected, 'set UPSTASH_EMAIL and UPSTASH_API_KEY to ask Upstash')
  return {
    about,
    expected,
    async ask() {
      const found = await databaseOf(env)
      if (!found) return { got: "Upstash's API did not answer, or lists no database with this address" }
      const { plan, eviction, readRegions, budget, region, luaMs, luaMsPerMinute } = found
      const got = [
        `plan ${plan ?? 'unknown'}`,
        `region ${region ?? 'unknown'}`,
        `eviction ${eviction === undefined ? 'unknown' : eviction ? 'on' : 'off'}`,
        `read regions ${readRegions.join(', ') || 'none'}`,
        `budget ${budget ? `$${budget} a month` : 'none'}`,
        ...(luaMs === undefined ? [] : [`at most ${luaMs} ms per script`]),
        ...(luaMsPerMinute === undefined ? [] : [`at most ${luaMsPerMinute} ms of scripts per minute`]),
      ].join(', ')
      return is(eviction === false && readRegions.length === 0 && !budget, got)
    },
  }
}

/** Large, because `Date` headers have whole seconds. */
const SPREAD_MS = 2_000

/** Milliseconds by which the server's time is ahead, or undefined without a `Date` header (workerd sends none). */
async function aheadOf(url: string, init: RequestInit = {}): Promise<number | undefined> {
  const sent = Date.now()
  const { headers } = await fetch(url, { ...init, signal: AbortSignal.timeout(30_000) })
  const date = headers.get('date')
  return date === null ? undefined : Date.parse(date) - (sent + Date.now()) / 2
}

type Clocks = Where & { time: () => Promise<number> }

export const clockQuestion = ({ url = 'https://qstash.upstash.io', token, publicUrl, time }: Clocks): Question => ({
  about: 'the clocks of the Worker, Redis and QStash',
  expected: `within ${SPREAD_MS / 1_000} s of each other; signatures tolerate 5 s`,
  async ask() {
    const authorization = `Bearer ${token}`
    const sent = Date.now()
    const redis = (await time()) - (sent + Date.now()) / 2
    const all = {
      Worker: await aheadOf(`${publicUrl}/health`),
      Redis: redis,
      QStash: await aheadOf(`${url.replace(/\/+$/, '')}/v2/keys`, { headers: { authorization } }),
    }
    const known = Object.values(all).filter((ms) => ms !== undefined)
    const shown = Object.entries(all).map(([name, ms]) =>
      ms === undefined ? `${name} sends no Date` : `${name} ${(ms / 1_000).toFixed(1)} s`,
    )
    return is(
      Math.max(...known) - Math.min(...known) <= SPREAD_MS,
      `${shown.join(', ')} from the clock of this machine`,
    )
  },
})

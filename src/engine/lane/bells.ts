import { isTimeout } from '../../core/errors.ts'
import { sleep } from '../../core/sleep.ts'
import type { BellTrouble, Ring } from '../../redis/types.ts'

export type BellOptions = {
  url?: string
  token: string
  publicUrl: string
  timeout?: number
}

export const bellUrl = (publicUrl: string, queue: string): string =>
  `${publicUrl}/dispatch/${encodeURIComponent(queue)}`

const QSTASH = 'https://qstash.upstash.io'
const ATTEMPTS = 3
const PAUSE = 200
/** In milliseconds. If a bell cannot be sent, the next tick wakes the queue. */
const TIMEOUT = 2_000
const BATCH = 100
const MAX_TIMEOUTS = 3
/** Milliseconds without bells after `MAX_TIMEOUTS` in a row. */
const SKIP = 10_000

class Refused extends Error {
  readonly passing: boolean
  constructor(status: number, text: string) {
    const quota = status === 429 ? ': the quota of its plan is used up, or messages are sent too fast' : ''
    super(`QStash answered ${status}${quota}${text && ` (${text.slice(0, 200)})`}`)
    this.passing = status >= 500
  }
}

/** Uses fetch: QStash's client has no timeout, and a hanging request would delay a lane. */
export function createBells({ url = QSTASH, token, publicUrl, timeout = TIMEOUT }: BellOptions) {
  const address = `${url.replace(/\/+$/, '')}/v2/batch`
  let trouble: BellTrouble | undefined
  let timeouts = 0
  let skipUntil = 0

  // The body contains the destination, because proxies would decode the name of a queue in a URL path.
  const message = ({ queue, bell, at }: Ring) => ({
    destination: bellUrl(publicUrl, queue),
    headers: {
      'content-type': 'application/json',
      'upstash-method': 'POST',
      'upstash-retries': '1',
      ...(at === undefined ? {} : { 'upstash-not-before': String(Math.ceil(at / 1000)) }),
    },
    body: JSON.stringify({ bell }),
  })

  async function post(body: string, signal: AbortSignal): Promise<{ error?: string }[]> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(address, { method: 'POST', headers, body, signal })
    if (!response.ok) throw new Refused(response.status, await response.text())
    return (await response.json()) as { error?: string }[]
  }

  async function postWithRetries(body: string): Promise<{ error?: string }[]> {
    const signal = AbortSignal.timeout(timeout)
    for (let attempt = 1; ; attempt++) {
      try {
        return await post(body, signal)
      } catch (error) {
        const isFinal = error instanceof Refused && !error.passing
        if (isFinal || attempt === ATTEMPTS || signal.aborted) throw error
        await sleep(PAUSE)
      }
    }
  }

  function refused(why: string): void {
    trouble = { refused: (trouble?.refused ?? 0) + 1, why }
  }

  async function publish(rings: Ring[]): Promise<Ring[]> {
    if (performance.now() < skipUntil) return rings
    try {
      const answers = await postWithRetries(JSON.stringify(rings.map(message)))
      timeouts = 0
      const failed = rings.filter((_, i) => answers[i]?.error !== undefined)
      if (failed.length)
        refused(`QStash refused a message: ${answers.find(({ error }) => error)!.error!.slice(0, 200)}`)
      else trouble = undefined
      return failed
    } catch (error) {
      timeouts = isTimeout(error) ? timeouts + 1 : 0
      if (timeouts >= MAX_TIMEOUTS) skipUntil = performance.now() + SKIP
      refused(isTimeout(error) ? `QStash did not answer within ${timeout} ms` : (error as Error).message)
      return rings
    }
  }

  return {
    async ring(rings: Ring[]): Promise<Ring[]> {
      const failed: Ring[] = []
      for (let i = 0; i < rings.length; i += BATCH) failed.push(...(await publish(rings.slice(i, i + BATCH))))
      return failed
    },
    trouble: () => trouble,
  }
}

export type Bells = ReturnType<typeof createBells>

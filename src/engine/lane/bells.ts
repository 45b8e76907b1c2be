// Rings: asks QStash to make us look at a queue, now or at a moment.

import { Client, QstashError } from '@upstash/qstash'
import { pause } from '../../core/sleep.ts'
import type { Ring } from '../../redis/types.ts'

export type BellOptions = { url?: string; token: string; publicUrl: string }

export type Bells = { ring: (rings: Ring[]) => Promise<Ring[]>; sent: () => number }

/** The address of a queue's bell. */
export const bellUrl = (publicUrl: string, queue: string): string =>
  `${publicUrl}/dispatch/${encodeURIComponent(queue)}`

// The vendor's client tries again when the network fails, not when the answer is 5xx; else the tick rings, a minute later.
const ATTEMPTS = 3
const PAUSE = 200
const isPassing = (error: unknown): boolean => error instanceof QstashError && (error.status ?? 0) >= 500

/**
 * Publishes bells; answers those that could not be published. A bell carries nothing but its own name: Redis alone
 * says whether there is work.
 */
export function createBells({ url, token, publicUrl }: BellOptions): Bells {
  const client = new Client({
    baseUrl: url,
    token,
    devMode: false,
    retry: { retries: ATTEMPTS - 1, backoff: () => PAUSE },
    enableTelemetry: false,
  })
  let sent = 0

  const message = ({ queue, bell, at }: Ring) => ({
    url: bellUrl(publicUrl, queue),
    body: { bell },
    retries: 1,
    ...(at === undefined ? {} : { notBefore: Math.ceil(at / 1000) }),
  })

  const publish = (rings: Ring[]): Promise<unknown> =>
    rings.length === 1 ? client.publishJSON(message(rings[0]!)) : client.batchJSON(rings.map(message))

  async function ring(rings: Ring[]): Promise<Ring[]> {
    if (rings.length === 0) return []
    for (let attempt = 1; ; attempt++) {
      try {
        await publish(rings)
        sent += rings.length
        return []
      } catch (error) {
        if (!isPassing(error) || attempt === ATTEMPTS) return rings
        await pause(PAUSE)
      }
    }
  }

  return { ring, sent: () => sent }
}

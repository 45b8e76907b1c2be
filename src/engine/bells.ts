// Rings: asks QStash to make us look at a queue, now or at a moment.

import { Client } from '@upstash/qstash'
import type { Ring } from '../redis/store.ts'

export type BellOptions = { url?: string; token: string; publicUrl: string; fetch?: typeof fetch }

export type Bells = { ring: (rings: Ring[]) => Promise<Ring[]>; sent: () => number }

/** The address of a queue's bell. */
export const bellUrl = (publicUrl: string, queue: string): string =>
  `${publicUrl}/dispatch/${encodeURIComponent(queue)}`

/**
 * Publishes bells; answers those that could not be published. A bell carries nothing but its own name: Redis alone
 * says whether there is work.
 */
export function createBells({ url, token, publicUrl }: BellOptions): Bells {
  const client = new Client({
    baseUrl: url,
    token,
    devMode: false,
    retry: { retries: 2, backoff: () => 200 },
    enableTelemetry: false,
  })
  let sent = 0

  const message = ({ queue, bell, at }: Ring) => ({
    url: bellUrl(publicUrl, queue),
    body: { bell },
    retries: 1,
    ...(at === undefined ? {} : { notBefore: Math.ceil(at / 1000) }),
  })

  async function ring(rings: Ring[]): Promise<Ring[]> {
    if (rings.length === 0) return []
    try {
      if (rings.length === 1) await client.publishJSON(message(rings[0]!))
      else await client.batchJSON(rings.map(message))
      sent += rings.length
      return []
    } catch {
      return rings
    }
  }

  return { ring, sent: () => sent }
}

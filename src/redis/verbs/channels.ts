import { fieldsOf } from '../flat.ts'
import { lastMessageOf } from '../item.ts'
import { literal } from '../keys.ts'
import type { Parts } from '../parts.ts'
import { tablesOf } from '../table.ts'

const CHANNELS = 1_000
/** Maximum listeners to return for one channel, and in one page. */
const [MOST_OF_ONE, LISTENERS] = [1_000, 10_000]

/** Returns undefined if there are too many ports to list: see lib/port/audience.lua. */
function listedIn(audience: string | null): string[] | undefined {
  const [head = '0', ...ports] = (audience ?? '0').split(' ')
  return ports.length === Number.parseInt(head, 10) ? ports : undefined
}

/** @example anyCase('a1') // '*[aA]1*' */
const anyCase = (text: string): string => {
  const letters = [...text].map((c) => {
    const [lower, upper] = [c.toLowerCase(), c.toUpperCase()]
    return lower === upper || lower.length > 1 || upper.length > 1 ? literal(c) : `[${lower}${upper}]`
  })
  return `*${letters.join('')}*`
}

export function createChannels(parts: Parts) {
  const { client, keys, vault } = parts
  const { ask } = client
  const names = tablesOf(parts)(keys.channels)

  return {
    async channels(cursor: string, count = CHANNELS) {
      const [next, flat] = await names.page(cursor, { count })
      return { channels: fieldsOf(flat), cursor: next }
    },
    async channelsLike(text: string): Promise<string[]> {
      const found: string[] = []
      for await (const pairs of names.matching(anyCase(text)))
        for (const [name, head] of pairs) if (Number.parseInt(head, 10) > 0) found.push(name)
      return found
    },
    async subscribers(channels: string[]): Promise<string[][]> {
      if (channels.length === 0) return []
      const audiences = await ask<(string | null)[]>((redis) => redis.mget(...channels.map(keys.audience)))
      let left = LISTENERS
      return Promise.all(
        audiences.map((audience, i) => {
          const listed = listedIn(audience)
          if (listed || left <= 0) return listed ?? []
          const most = Math.min(Number.parseInt(audience!, 10), MOST_OF_ONE, left)
          left -= most
          return ask<string[]>((redis) => redis.zrange(keys.channel(channels[i]!), 0, most - 1))
        }),
      )
    },
    keptChannels: () => ask<string[]>((redis) => redis.zrange(keys.messages, 0, -1)),
    async lastMessages(channels: string[]) {
      if (channels.length === 0) return []
      const texts = await ask<(string | null)[]>((redis) => redis.mget(...channels.map(keys.message)))
      return texts.map((text) => (text === null ? undefined : lastMessageOf(text, vault.show.item)))
    },
  }
}

// Channels: published to, listed, listened to.

import type { Wire } from '../../core/value.ts'
import { publishWords } from '../../redis/changes.ts'
import type { Engine } from '../engine.ts'
import type { Parts } from '../parts.ts'

const LISTEN = 60_000

export function createChannels({ store, client, change }: Parts): Pick<Engine, 'publish' | 'channels' | 'subscribe'> {
  return {
    async publish(channel, message, { context } = {}, call) {
      const [subscribers] = await change('', [publishWords(channel, message, context)], call)
      return { subscribers: Number(subscribers) }
    },

    async channels() {
      const all = Object.entries(await store.channels())
      const names = all.flatMap(([name, audience]) => (Number.parseInt(audience, 10) > 0 ? [name] : [])).sort()
      const lists = await Promise.all(names.map((name) => store.subscribers(name)))
      return {
        channels: names.map((name, i) => ({
          name,
          subscribers: lists[i]!.map((member) => {
            const [job, port] = member.split(':') as [string, string]
            return { job: Number(job), port }
          }),
        })),
      }
    },

    async *subscribe(channel, signal) {
      const renew = () => store.change('', [['listen', String(LISTEN)]])
      await renew()
      const timer = setInterval(() => renew().catch(() => undefined), LISTEN / 2)
      try {
        for await (const text of client.listen(store.keys.live(channel), signal)) {
          if (text === '') continue
          const end = text.indexOf('\t')
          yield { channel: text.slice(0, end), message: text.slice(end + 1) as Wire }
        }
      } finally {
        clearInterval(timer)
      }
    },
  }
}

import { isBelow } from '../../core/channel.ts'
import type { Encoded } from '../../core/codec/value.ts'
import { Lru } from '../../core/lru.ts'
import { parseMinutes, rateOf } from '../../core/minutes.ts'
import { publishedWords } from '../../redis/changes.ts'
import type { LastMessage } from '../../redis/item.ts'
import { ops } from '../../redis/ops.ts'
import { type Context, onceOf } from '../context.ts'
import type { Call, ChannelView } from '../engine.ts'
import { quotaOf } from '../jobs/new-job.ts'

const LISTEN = 60_000

async function* merged<T>(readers: AsyncIterator<T>[]): AsyncIterable<T> {
  const next = (reader: AsyncIterator<T>) => reader.next().then((got) => ({ reader, got }))
  const coming = new Map(readers.map((reader) => [reader, next(reader)]))
  try {
    for (;;) {
      const { reader, got } = await Promise.race(coming.values())
      if (got.done) return
      coming.set(reader, next(reader))
      yield got.value
    }
  } finally {
    for (const reader of readers) reader.return?.().catch(() => undefined)
  }
}

const REMEMBERED = 1_000

const MOST_PUBLISHERS = 100

const lastView = (
  { counted, ...last }: LastMessage,
  now: number,
): Pick<Required<ChannelView>, 'last' | 'rate' | 'minutes'> => {
  const minutes = parseMinutes(counted, now)
  return { last, rate: rateOf(minutes, now), minutes }
}

type Query = { publishers?: boolean; last?: boolean; cursor?: string; limit?: number }

export function createChannels({ store, client, registry, ring, now }: Context) {
  /** Jobs that listen to a channel. The next `publish` reads these jobs with its first MGET. */
  const audience = new Lru<string, readonly string[]>(REMEMBERED)

  async function saying() {
    const lists = (await store.queueNames()).sort().map(async (queue) => [queue, await registry.known(queue)] as const)
    return (await Promise.all(lists)).flatMap(([queue, classes]) =>
      [...classes].flatMap(([name, { definition }]) =>
        Object.entries(definition.out ?? {}).map(([port, { channels = [] }]) => ({
          by: { queue, class: name, port },
          channels,
        })),
      ),
    )
  }

  const publishersOf = (name: string, ports: Awaited<ReturnType<typeof saying>>) =>
    ports
      .flatMap(({ by, channels }) => (channels.some((said) => isBelow(said, name)) ? [by] : []))
      .slice(0, MOST_PUBLISHERS)

  /** In a log message, single values are encrypted. Other messages are encrypted as a whole or not at all. */
  const shownMessage = (channel: string, message: string): Encoded =>
    channel === '/sidejob/log' ? store.vault.showLogMessage(message) : store.vault.show.value(message, 'value')

  async function* messagesOf(streams: AsyncIterator<string>[], renew: () => Promise<unknown>) {
    const timer = setInterval(() => renew().catch(() => undefined), LISTEN / 2)
    try {
      for await (const text of merged(streams)) {
        const end = text.indexOf('\t')
        yield { channel: text.slice(0, end), message: shownMessage(text.slice(0, end), text.slice(end + 1)) }
      }
    } finally {
      clearInterval(timer)
    }
  }

  return {
    async publish(channel: string, message: Encoded, options: { context?: Encoded; keep?: 0 | 1 } = {}, call?: Call) {
      const near = { queues: registry.queues, jobs: audience.get(channel), ...quotaOf(call) }
      const { answer, rings, receivers, again } = await store.change(
        '',
        publishedWords(channel, message, store.vault, options),
        onceOf(call),
        near,
      )
      if (!again && receivers.length > 0) audience.set(channel, receivers)
      if (!again && receivers.length === 0) audience.delete(channel)
      await ring(rings)
      return { subscribers: Number(answer[0]) }
    },

    /** The answer has about `limit` channels. */
    async list({ publishers = false, last = false, cursor = '0', limit }: Query = {}) {
      const [page, ports, kept] = await Promise.all([
        store.channels(cursor, limit),
        publishers ? saying() : undefined,
        last && cursor === '0' ? store.keptChannels() : [],
      ])
      const listened = Object.entries(page.channels).flatMap(([name, head]) =>
        Number.parseInt(head, 10) > 0 ? [name] : [],
      )
      const declared = cursor === '0' ? (ports ?? []).flatMap(({ channels }) => channels) : []
      const names = [...new Set([...listened, ...kept, ...declared.slice(0, MOST_PUBLISHERS)])].sort()
      const [lists, messages] = await Promise.all([store.subscribers(names), store.lastMessages(kept)])
      const lastOf = new Map(kept.map((name, i) => [name, messages[i]]))
      return {
        channels: names.map((name, i) => ({
          name,
          subscribers: lists[i]!.map((member) => {
            const [job, port] = member.split(':') as [string, string]
            return { job: Number(job), port }
          }),
          ...(ports && { publishers: publishersOf(name, ports) }),
          ...(lastOf.get(name) && lastView(lastOf.get(name)!, now())),
        })),
        cursor: page.cursor,
      }
    },

    /** Resolves when the subscription is active. */
    async subscribe(
      channels: readonly string[],
      signal: AbortSignal,
    ): Promise<AsyncIterable<{ channel: string; message: Encoded }>> {
      const renew = () => store.change('', [ops.listen({ ms: LISTEN, channels })])
      await renew()
      const streams = channels.map((name) => client.listen(store.keys.live(name), signal)[Symbol.asyncIterator]())
      await Promise.all(streams.map((stream) => stream.next()))
      return messagesOf(streams, renew)
    },
  }
}

import { type SSEStreamingApi, streamSSE } from 'hono/streaming'
import * as z from 'zod'
import { writeJson } from '../core/codec/json-writer.ts'
import { raw } from '../core/codec/value.ts'
import { requestLimits } from '../core/limits.ts'
import { channelList, channelName, closed, flag, keepMessage, moment, scanCursor } from '../core/schemas.ts'
import { tokenPath } from './door.ts'
import { keyOf } from './places.ts'
import { type Asked, route } from './route.ts'

const MOST_CHANNELS = 20

const absolute = (channel: string): string => (channel.startsWith('/') ? channel : `/${channel}`)

const streamed = {
  scope: 'read',
  answers: { 200: z.object({ channel: z.string(), message: closed }) },
  media: 'text/event-stream',
  listens: true,
} as const

export const channels = {
  publish: route('POST /v1/publish', {
    scope: 'write',
    summary: 'Publish a message',
    description: 'Ports that listen to the channel or to a channel above it receive the message.',
    body: z.strictObject({
      channel: channelName,
      message: closed,
      context: closed.optional(),
      keep: keepMessage.optional(),
    }),
    answers: { 200: z.object({ subscribers: z.int() }) },
    handle: ({ engine, body: { channel, message, ...options }, call }) =>
      engine.channels.publish(channel, message, options, call),
  }),

  list: route('GET /v1/channels', {
    scope: 'read',
    summary: 'List channels',
    description:
      'Returns the channels with their listeners. `publishers=true` adds the classes that publish to each channel, and the channels of their ports; `last=true` adds the last kept message.',
    query: z.strictObject({ publishers: flag.optional(), last: flag.optional(), cursor: scanCursor.optional() }),
    answers: { 200: channelList },
    handle: ({ engine, query }) => engine.channels.list(query),
  }),

  subscribe: route('GET /v1/subscribe/:channel', {
    ...streamed,
    summary: 'Subscribe to a channel',
    description:
      'Streams the messages of the channel and of all channels below it as Server-Sent Events. `/v1/subscribe/a/b` subscribes to the channel `/a/b`.',
    query: z.strictObject({
      token: z.string().max(255).optional().describe('stream token, for clients that cannot send a header'),
    }),
    byToken: true,
    handle: ({ params, ...asked }) => events(asked, [`/${params.channel}`]),
  }),

  listen: route('GET /v1/subscribe', {
    ...streamed,
    summary: 'Subscribe to several channels',
    description:
      'Streams messages as Server-Sent Events. Repeat the parameter for each channel: `?channel=/a&channel=/b`.',
    query: z.strictObject({ channel: z.array(channelName).min(1).max(MOST_CHANNELS) }),
    repeated: ['channel'],
    handle: ({ query, ...asked }) => events(asked, [...new Set(query.channel.map(absolute))]),
  }),

  token: route('POST /v1/subscribe/:channel', {
    scope: 'read',
    summary: 'Create a stream token',
    description:
      'Returns a token that is valid for one minute. Browsers need it, because `EventSource` cannot send an API key in a header.',
    answers: { 200: z.object({ token: z.string(), expiresAt: moment }) },
    handle: ({ caller, c }) => caller!.home.streamTokens.create(keyOf(caller!), tokenPath(c.req.url)),
  }),
}

/** If a client reconnects with its last id, an event `gap` warns that messages may be missing. */
async function events(
  { engine, caller, c, hangUp }: Pick<Asked<string, undefined, undefined>, 'engine' | 'caller' | 'c' | 'hangUp'>,
  channels: string[],
): Promise<Response> {
  const gone = new AbortController()
  const isKnown = () => caller!.home.keys.isActive(caller!.id)
  const messages = await engine.channels.subscribe(channels, gone.signal).catch((error) => {
    gone.abort()
    throw error
  })
  return streamSSE(c, async (stream) => {
    stream.onAbort(() => gone.abort())
    const stop = beating(stream, isKnown, () => gone.abort())
    const last = c.req.header('last-event-id')
    if (last !== undefined) await stream.writeSSE({ event: 'gap', data: JSON.stringify({ after: last }) })
    let sent = 0
    try {
      for await (const { channel, message } of messages) {
        if (gone.signal.aborted) break
        await stream.writeSSE({ id: `${Date.now()}-${++sent}`, data: writeJson({ channel, message: raw(message) }) })
      }
    } catch (error) {
      if (!gone.signal.aborted) throw error
    } finally {
      stop()
      hangUp()
    }
  })
}

/** A proxy would close a silent connection. */
const beating = (stream: SSEStreamingApi, isKnown: () => Promise<boolean>, end: () => void) => {
  const comment = () => stream.write(': here\n\n')
  comment()
  const beat = setInterval(
    async () => ((await isKnown().catch(() => true)) ? comment() : end()),
    requestLimits.stream.beat,
  )
  const life = setTimeout(end, requestLimits.stream.life)
  return () => {
    clearInterval(beat)
    clearTimeout(life)
  }
}

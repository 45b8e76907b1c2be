// Calls Redis over HTTP: scripts by their sha, one retry policy, errors without what was sent.

import { Redis } from '@upstash/redis'
import { SidejobError } from '../core/errors.ts'
import { argumentsOf, type Evaluate, type Script } from './script.ts'

export type RedisOptions = {
  url: string
  token: string
  /** Milliseconds for one request. */
  timeout?: number
  /** How often a request is sent when the network fails. */
  attempts?: number
}

export type Client = {
  evaluate: Evaluate
  /** What is published on a Redis channel, as long as the signal lets it; first '', when the subscription stands. */
  listen: (channel: string, signal: AbortSignal) => AsyncIterable<string>
  /** A plain command: `ask((redis) => redis.hget(key, field))`. */
  ask: <T>(command: (redis: Redis) => Promise<T>) => Promise<T>
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

// The vendor's text carries the whole command, script and arguments: only its front may be shown.
const shown = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split(', command was:')[0]!.slice(0, 200)

const isNoScript = (error: unknown): boolean => error instanceof Error && error.message.includes('NOSCRIPT')

/** What a script says that has met data of another schema than its own, see lib/store.lua. */
const otherSchema = (error: unknown): string | undefined =>
  error instanceof Error ? /SCHEMA (the data are of .*?);/.exec(error.message)?.[1] : undefined

const isAnswer = (error: unknown): boolean => error instanceof Error && error.name === 'UpstashError'

/**
 * A client over the vendor's. Every script is safe to send twice, so a request whose answer was lost is sent again.
 *
 * @example const { evaluate } = createClient({ url: env.UPSTASH_REDIS_REST_URL, token: env.UPSTASH_REDIS_REST_TOKEN })
 */
export function createClient({ url, token, timeout = 20_000, attempts = 3 }: RedisOptions): Client {
  const redis = new Redis({
    url,
    token,
    enableAutoPipelining: false,
    automaticDeserialization: false,
    responseEncoding: false,
    enableTelemetry: false,
    latencyLogging: false,
    retry: { retries: 0 },
    signal: () => AbortSignal.timeout(timeout),
  })

  async function send<T>(request: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await request()
      } catch (error) {
        if (isNoScript(error)) throw error
        const schema = otherSchema(error)
        if (schema)
          throw new SidejobError('UNAVAILABLE', `${schema}: deploy the version that wrote them`, { retryAfter: 10 })
        if (isAnswer(error) || attempt >= attempts)
          throw new SidejobError('UNAVAILABLE', `Redis did not answer: ${shown(error)}`, { retryAfter: 1 })
        await pause(50 * 4 ** (attempt - 1))
      }
    }
  }

  async function evaluate<Args>(script: Script<Args>, keys: string[], args: Args, rest: string[]): Promise<unknown> {
    const values = argumentsOf(script, args, rest)
    try {
      return await send(() => redis.evalsha(script.sha, keys, values))
    } catch (error) {
      if (!isNoScript(error)) throw error
      return await send(() => redis.eval(script.text, keys, values))
    }
  }

  async function* listen(channel: string, signal: AbortSignal): AsyncIterable<string> {
    const response = await fetch(`${url}/subscribe/${encodeURIComponent(channel)}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
      signal,
    })
    if (!response.ok || !response.body)
      throw new SidejobError('UNAVAILABLE', `Redis refused the subscription: ${response.status}`)
    const prefix = `message,${channel},`
    for await (const data of events(response.body)) {
      if (data.startsWith('subscribe,')) yield ''
      if (data.startsWith(prefix)) yield data.slice(prefix.length)
    }
  }

  return { evaluate, listen, ask: (command) => send(() => command(redis)) }
}

/** The data of Server-Sent Events, one text each. */
async function* events(body: ReadableStream<Uint8Array>): AsyncIterable<string> {
  let rest = ''
  for await (const chunk of body.pipeThrough(new TextDecoderStream() as never) as unknown as AsyncIterable<string>) {
    const blocks = (rest + chunk).split(/\r?\n\r?\n/)
    rest = blocks.pop()!
    for (const block of blocks) {
      const lines = block.split(/\r?\n/).filter((line) => line.startsWith('data:'))
      if (lines.length) yield lines.map((line) => line.slice(5).replace(/^ /, '')).join('\n')
    }
  }
}

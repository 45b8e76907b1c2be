import { Redis } from '@upstash/redis/cloudflare'
import { isOutage, isTimeout, SidejobError } from '../core/errors.ts'
import { requestDelay } from '../core/retry.ts'
import { sleep } from '../core/sleep.ts'
import { faultOf, isAnswer, isNoScript } from './faults.ts'
import { argumentsOf, type Evaluate, inSources } from './script.ts'

export type RedisOptions = {
  url: string
  token: string
  /** In milliseconds. */
  timeout?: number
  attempts?: number
}

export type Client = {
  evaluate: Evaluate
  /** Yields '' when the subscription is active. */
  listen: (channel: string, signal: AbortSignal) => AsyncIterable<string>
  ask: <T>(command: (redis: Redis) => Promise<T>) => Promise<T>
  fault?: () => SidejobError | undefined
}

type Sending = {
  isSafe?: boolean
  isSha?: boolean
  placed?: (text: string) => string
}

// With one of these arguments, Redis recognizes a repeated request and returns the stored answer.
const keyNames = ['once', 'lane'] as const
const hasKey = (args: object): boolean => keyNames.some((name) => (args as Record<string, unknown>)[name])

/**
 * Sends a request again if it got no response. After a timeout, Redis may still execute the first request, so only
 * requests that Redis recognizes are sent again.
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

  let fault: SidejobError | undefined

  async function send<T>(request: () => Promise<T>, { isSafe, isSha, placed }: Sending = {}): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await request()
        fault = undefined
        return answer
      } catch (error) {
        if (isSha && isNoScript(error)) throw error
        if (isAnswer(error) || attempt >= attempts || (isTimeout(error) && !isSafe)) {
          const found = faultOf(error, timeout, placed)
          if (isOutage(found)) fault = found
          throw found
        }
        await sleep(requestDelay(attempt))
      }
    }
  }

  const evaluate: Evaluate = async (script, keys, args, rest) => {
    const values = argumentsOf(script, args, rest)
    const sending = { isSafe: hasKey(args), placed: (text: string) => inSources(text, script) }
    try {
      return await send(() => redis.evalsha(script.sha, keys, values), { ...sending, isSha: true })
    } catch (error) {
      if (!isNoScript(error)) throw error
      return await send(() => redis.eval(script.text, keys, values), sending)
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

  return { evaluate, listen, ask: (command) => send(() => command(redis), { isSafe: true }), fault: () => fault }
}

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

// Redis over HTTP, in the vendor's REST dialect: a command is a list, sent as JSON. The vendor's own client does more than
// a Worker needs, and would be an eighth of what the smallest of them uploads (src/README.md).

/** A command with its arguments, as Redis takes it. */
export type Command = readonly (string | number)[]

/** Redis has answered, and refuses. */
export class RedisError extends Error {
  override name = 'RedisError'
}

const names = [
  ...['get', 'set', 'mget', 'mset', 'del', 'unlink', 'exists', 'keys', 'scan', 'pttl', 'rename', 'publish'],
  ...['hget', 'hset', 'hsetnx', 'hdel', 'hmget', 'hgetall', 'hkeys', 'hscan'],
  ...['sadd', 'srem', 'smembers', 'sismember', 'sscan'],
  ...['zadd', 'zrem', 'zrange', 'zscore', 'zcard', 'zscan'],
  ...['llen', 'lrange', 'xadd', 'xrange', 'xrevrange', 'eval', 'evalsha'],
] as const

type Name = (typeof names)[number]
type Commands = { [N in Name]: <T = unknown>(...args: (string | number)[]) => Promise<T> }

export type Redis = Commands & {
  /** Commands in one request, each on its own; the first refusal is thrown. */
  pipeline: <T = unknown>(commands: readonly Command[]) => Promise<T[]>
  /** Commands in one request, all or none. */
  transaction: <T = unknown>(commands: readonly Command[]) => Promise<T[]>
}

type Answer = { result?: unknown; error?: string }

/** @example const redis = createRest({ url, token, timeout: 20_000 }); await redis.hget('key', 'field') */
export function createRest({ url, token, timeout }: { url: string; token: string; timeout: number }): Redis {
  const base = url.replace(/\/$/, '')
  // What a database with replicas is told, so that it reads what was written last.
  let seen = ''

  async function send(path: string, body: unknown): Promise<unknown> {
    const response = await fetch(base + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'upstash-sync-token': seen },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeout),
    })
    const text = await response.text()
    let answer: unknown
    try {
      answer = JSON.parse(text)
    } catch {
      throw new Error(`expected JSON, got ${response.status} ${text.slice(0, 100)}`)
    }
    if (!response.ok) throw new RedisError(String((answer as Answer).error))
    seen = response.headers.get('upstash-sync-token') ?? ''
    return answer
  }

  const resultOf = ({ error, result }: Answer): unknown => {
    if (error !== undefined) throw new RedisError(error)
    return result
  }
  const all = async (path: string, commands: readonly Command[]) =>
    ((await send(path, commands)) as Answer[]).map(resultOf) as never

  const one = (name: string) => [
    name,
    async (...args: Command) => resultOf((await send('', [name, ...args])) as Answer),
  ]
  return {
    ...(Object.fromEntries(names.map(one)) as Commands),
    pipeline: (commands) => all('/pipeline', commands),
    transaction: (commands) => all('/multi-exec', commands),
  }
}

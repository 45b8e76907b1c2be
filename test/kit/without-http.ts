// Tests of scripts use Redis without HTTP, because a call over HTTP takes forty times as long.

import { Redis } from '@upstash/redis'
import { type Address, type Connection, connect, decode, type Reply, RespError } from '../../infra/stand-ins/resp.ts'
import { type Client, createClient, type RedisOptions } from '../../src/redis/client.ts'
import { faultOf, isNoScript } from '../../src/redis/faults.ts'
import { argumentsOf, type Evaluate, inSources } from '../../src/redis/script.ts'

type Plain = string | number | null | Plain[]

/** Upstash's client gives its errors this name. */
const refusalOf = ({ message }: RespError) => Object.assign(new Error(message), { name: 'UpstashError' })

export function plain(reply: Reply): Plain {
  if (reply instanceof RespError) throw refusalOf(reply)
  if (Array.isArray(reply)) return reply.map(plain)
  return Buffer.isBuffer(reply) ? reply.toString() : reply
}

/** Subscriptions still use HTTP. */
export function withoutHttp(address: Address, options: RedisOptions): Client {
  let connection: Promise<Connection> | undefined
  const opened = () => (connection ??= connect(address))
  const call = async (...words: unknown[]): Promise<Plain> => plain(await (await opened()).call(...words.map(String)))

  const evaluate: Evaluate = async (script, keys, args, rest) => {
    const words = [keys.length, ...keys, ...argumentsOf(script, args, rest)]
    try {
      return await call('EVALSHA', script.sha, ...words).catch((error) => {
        if (!isNoScript(error)) throw error
        return call('EVAL', script.text, ...words)
      })
    } catch (error) {
      throw faultOf(error, 0, (text) => inSources(text, script))
    }
  }

  async function batch(commands: unknown[][], isAtomic: boolean): Promise<Plain[]> {
    const texts = commands.map((words) => words.map(String))
    const replies = await (await opened()).batch(isAtomic ? [['MULTI'], ...texts, ['EXEC']] : texts)
    return isAtomic ? (plain(decode(replies.at(-1)!)) as Plain[]) : replies.map((reply) => plain(decode(reply)))
  }

  async function request({ path, body }: { path?: string[]; body: unknown[] }) {
    if (!path) return { result: await call(...body) }
    const results = await batch(body as unknown[][], path[0] === 'multi-exec')
    return results.map((result) => ({ result }))
  }
  const opts = { automaticDeserialization: false }
  const redis = Object.assign(new Redis({ request } as never), { opts })
  const { listen } = createClient(options)
  return { evaluate, listen, ask: (command) => command(redis) }
}

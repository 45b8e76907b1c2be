import type { Command } from './resp.ts'

/** Maximum size of a request on Upstash's smaller plans. */
export const MAX_BYTES = 10 * 1024 * 1024

export const tooLarge = (bytes: number) =>
  `ERR max request size exceeded. Limit: ${MAX_BYTES} bytes, Actual: ${bytes} bytes. See https://upstash.com/docs/redis/troubleshooting/max_request_size_exceeded for details`

export type Refused = { error: string }

export type Parsed = Command | Refused

export function commandFromJson(body: Buffer): Parsed {
  return toCommand(parse(body), 'command')
}

export function pipelineFromJson(body: Buffer): Parsed[] | Refused {
  const value = parse(body)
  if (!Array.isArray(value)) return { error: 'ERR failed to parse pipeline request' }
  if (value.length === 0) return { error: 'ERR empty pipeline request' }
  return value.map((item) => toCommand(item, 'pipeline command'))
}

/** `/SET/key?EX=100` with a body means SET key body EX 100. */
export function commandFromPath(path: string[], body: Buffer, url: URL): Parsed {
  if (!path[0]) return { error: 'ERR empty command' }
  const command: Command = body.length > 0 ? [...path, body] : [...path]
  for (const [name, value] of url.searchParams) {
    if (name !== '_token') command.push(...(value === '' ? [name] : [name, value]))
  }
  return command
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}

function toCommand(value: unknown, what: string): Parsed {
  if (!Array.isArray(value)) return { error: `ERR failed to parse ${what}` }
  if (value.length === 0) return { error: `ERR empty ${what}` }
  const command: string[] = []
  for (const part of value) {
    if (typeof part === 'object' && part !== null) return { error: `ERR failed to parse ${what}` }
    command.push(typeof part === 'string' ? part : String(part))
  }
  return command
}

export function refusal(command: Command, readOnly: boolean): string | undefined {
  const verb = String(command[0]).toUpperCase()
  if (unavailable.has(verb) || blocks(verb, command) || changesSettings(verb, command)) {
    return `ERR Command is not available: '${verb}'. See https://upstash.com/docs/redis/overall/rediscompatibility for details`
  }
  if (readOnly && !readable.has(verb)) {
    return `NOPERM this user has no permissions to run the '${verb.toLowerCase()}' command or its subcommand`
  }
}

const words = (text: string) => new Set(text.split(/\s+/))

/** Upstash refuses commands that block, need their own connection, or are for the operator of the server. */
const unavailable = words(`
  BLPOP BRPOP BLMOVE BRPOPLPUSH BLMPOP BZPOPMIN BZPOPMAX BZMPOP
  MULTI EXEC DISCARD WATCH UNWATCH AUTH HELLO SELECT QUIT RESET CLIENT READONLY READWRITE ASKING
  SUBSCRIBE UNSUBSCRIBE PSUBSCRIBE PUNSUBSCRIBE SSUBSCRIBE SUNSUBSCRIBE MONITOR
  CLUSTER SHUTDOWN DEBUG SAVE BGSAVE BGREWRITEAOF LASTSAVE REPLICAOF SLAVEOF ROLE SYNC PSYNC REPLCONF FAILOVER
  MODULE MIGRATE MOVE SWAPDB LATENCY SLOWLOG
`)

function blocks(verb: string, command: Command) {
  if (verb !== 'XREAD' && verb !== 'XREADGROUP') return false
  const options = command.map((part) => String(part).toUpperCase())
  return options.slice(0, options.indexOf('STREAMS')).includes('BLOCK')
}

function changesSettings(verb: string, command: Command) {
  return verb === 'CONFIG' && String(command[2]).toLowerCase() !== 'notify-keyspace-events'
}

const readable = words(`
  PING ECHO TIME DBSIZE INFO TYPE TTL PTTL EXPIRETIME PEXPIRETIME EXISTS RANDOMKEY OBJECT
  GET MGET STRLEN GETRANGE SUBSTR GETBIT BITCOUNT BITPOS BITFIELD_RO LCS
  HGET HMGET HGETALL HKEYS HVALS HLEN HEXISTS HSTRLEN HRANDFIELD HSCAN HTTL HPTTL
  LRANGE LINDEX LLEN LPOS
  SMEMBERS SISMEMBER SMISMEMBER SCARD SRANDMEMBER SINTER SUNION SDIFF SINTERCARD SSCAN
  ZRANGE ZREVRANGE ZRANGEBYSCORE ZREVRANGEBYSCORE ZRANGEBYLEX ZREVRANGEBYLEX ZCARD ZCOUNT ZLEXCOUNT ZSCORE ZMSCORE
  ZRANK ZREVRANK ZRANDMEMBER ZINTER ZUNION ZDIFF ZINTERCARD ZSCAN
  XRANGE XREVRANGE XLEN XREAD XPENDING XINFO PFCOUNT GEOPOS GEODIST GEOHASH GEOSEARCH SORT_RO
  EVAL_RO EVALSHA_RO FCALL_RO
`)

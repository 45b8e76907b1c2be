// Tests share servers, because the start of a server takes longer than most tests.

import { type RunningRedis, startRedis } from '../../infra/stand-ins/redis.ts'
import { connect } from '../../infra/stand-ins/resp.ts'
import type { Script } from '../../src/redis/script.ts'
import * as scripts from '../../src/redis/scripts.generated.ts'

const idle: RunningRedis[] = []

/** Commands that reset a server, but keep its scripts loaded. */
const reset = [
  ['CLIENT', 'KILL', 'TYPE', 'normal'],
  ['CLIENT', 'KILL', 'TYPE', 'pubsub'],
  ['CONFIG', 'SET', 'maxmemory', '0', 'slowlog-log-slower-than', '10000'],
  ['FLUSHALL'],
  ['SLOWLOG', 'RESET'],
  ['CONFIG', 'RESETSTAT'],
]

async function send(redis: RunningRedis, commands: string[][]): Promise<void> {
  const connection = await connect(redis)
  await connection.batch(commands)
  await connection.close()
}

async function start(): Promise<RunningRedis> {
  const redis = await startRedis({ force: 'server', persist: false })
  // Load the scripts, because the first call of a script would cost more than the next calls.
  const texts = Object.values(scripts as Record<string, Script<never>>).map(({ text }) => text)
  await send(redis, [...texts.map((text) => ['SCRIPT', 'LOAD', text]), ...reset])
  return redis
}

export async function borrowServer(): Promise<RunningRedis> {
  const redis = idle.pop() ?? (await start())
  let isBorrowed = true
  return {
    ...redis,
    async close() {
      if (!isBorrowed) return
      isBorrowed = false
      await send(redis, reset)
      idle.push(redis)
    },
  }
}

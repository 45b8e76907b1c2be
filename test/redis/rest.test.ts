// Our client of the REST dialect, beside the vendor's own: the same answers and the same refusals.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Redis } from '@upstash/redis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRest, RedisError } from '../../src/redis/rest.ts'
import { type Kit, startKit } from '../kit.ts'

let kit: Kit
beforeAll(async () => {
  kit = await startKit()
})
afterAll(() => kit.close())

const ours = () => createRest({ ...kit.options, timeout: 10_000 })
const theirs = () => new Redis({ ...kit.options, automaticDeserialization: false, enableAutoPipelining: false })

test('commands are answered as the vendor’s client is', async () => {
  const redis = ours()
  expect(await redis.hset('rest:hash', 'a', 1, 'b', 'ü\n"')).toBe(2)
  expect(await theirs().hget('rest:hash', 'b')).toBe('ü\n"')
  expect(await redis.hgetall('rest:hash')).toEqual(['a', '1', 'b', 'ü\n"'])
  expect(await redis.get('rest:nothing')).toBeNull()
  expect(await redis.zadd('rest:zset', 1.5, 'one', 3, 'two')).toBe(2)
  expect(await redis.zrange('rest:zset', 0, -1, 'WITHSCORES')).toEqual(['one', '1.5', 'two', '3'])
})

test('a pipeline does each command, a transaction all', async () => {
  const redis = ours()
  const commands = [
    ['set', 'rest:n', 1],
    ['incr', 'rest:n'],
  ]
  expect(await redis.pipeline(commands)).toEqual(['OK', 2])
  expect(await redis.transaction(commands)).toEqual(['OK', 2])
})

test('what Redis refuses is a RedisError with its words, alone and in a pipeline', async () => {
  const redis = ours()
  const wrong = (await theirs()
    .lrange('rest:hash', 0, 1)
    .catch((error) => error)) as Error
  expect(wrong.message).toContain('WRONGTYPE')
  const refusal = redis.lrange('rest:hash', 0, 1)
  await expect(refusal).rejects.toBeInstanceOf(RedisError)
  await expect(refusal).rejects.toThrow(/^WRONGTYPE Operation against a key holding the wrong kind of value$/)
  await expect(redis.pipeline([['lrange', 'rest:hash', 0, 1]])).rejects.toThrow(/WRONGTYPE/)
  await expect(createRest({ ...kit.options, token: 'wrong', timeout: 10_000 }).get('x')).rejects.toThrow(/WRONGPASS/)
})

test('each request says what the database has answered last, and what is no JSON is no answer of Redis', async () => {
  const tokens: unknown[] = []
  const server = createServer((request, response) => {
    tokens.push(request.headers['upstash-sync-token'])
    response.setHeader('upstash-sync-token', `token ${tokens.length}`)
    if (tokens.length < 3) return void response.end('{"result":null}')
    response.writeHead(502).end('<html>bad gateway')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const redis = createRest({ url, token: 't', timeout: 10_000 })
  await redis.get('a')
  await redis.get('a')
  const refusal = redis.get('a')
  await expect(refusal).rejects.not.toBeInstanceOf(RedisError)
  await expect(refusal).rejects.toThrow('expected JSON, got 502 <html>bad gateway')
  expect(tokens).toEqual(['', 'token 1', 'token 2'])
  server.close()
})

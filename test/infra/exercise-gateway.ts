// A title begins with its source. The sources `restapi`, `readyourwrites`, `scripting` and `billing` are pages of
// upstash.com/docs/redis. `sdk` is @upstash/redis 1.39. `gateway` is a feature that only our tests need.

import { createHash } from 'node:crypto'
import { Redis } from '@upstash/redis'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../../infra/stand-ins/gateway.ts'
import type { RunningRedis } from '../../infra/stand-ins/redis.ts'

type World = {
  gateway: Gateway
  redis: RunningRedis
  client: Redis
  /** Each call is one request, and values are strings. */
  plain: Redis
  ask: (path: string, init?: Ask) => Promise<Answer>
}
type Ask = { method?: string; body?: unknown; headers?: Record<string, string>; token?: string | null }
type Answer = { status: number; body: unknown; text: string; headers: Headers }

const rows: [behaviour: string, check: (world: World) => Promise<void>][] = [
  [
    'restapi: a command is a JSON array; its answer is one result',
    async ({ ask }) => {
      expect(await ask('/', { body: ['SET', 'k', 'v', 'EX', 100] })).toMatchObject({
        status: 200,
        text: '{"result":"OK"}',
      })
      expect((await ask('/', { body: ['GET', 'k'] })).text).toBe('{"result":"v"}')
      expect((await ask('/', { body: ['TTL', 'k'] })).text).toBe('{"result":100}')
      expect((await ask('/', { body: ['GET', 'none'] })).text).toBe('{"result":null}')
    },
  ],
  [
    'restapi: values may be numbers and booleans',
    async ({ ask }) => {
      await ask('/', { body: ['RPUSH', 'l', 1, 1.5, true, false, ''] })
      expect((await ask('/', { body: ['LRANGE', 'l', 0, -1] })).body).toEqual({
        result: ['1', '1.5', 'true', 'false', ''],
      })
    },
  ],
  [
    'restapi: a path is a command too, and ends with the body and the query',
    async ({ ask }) => {
      expect((await ask('/set/a%2Fb/hello%20you', { method: 'GET' })).text).toBe('{"result":"OK"}')
      expect((await ask('/GET/a%2Fb', { method: 'GET' })).text).toBe('{"result":"hello you"}')
      expect((await ask('/set/doc?EX=100&NX', { body: '{"x":1}' })).text).toBe('{"result":"OK"}')
      expect((await ask('/get/doc', { method: 'GET' })).body).toEqual({ result: '{"x":1}' })
      expect((await ask('/ttl/doc', { method: 'PUT' })).text).toBe('{"result":100}')
    },
  ],
  [
    'restapi: the token comes as a header or in the query, and a wrong one is 401',
    async ({ ask, gateway }) => {
      const refused = { status: 401, body: { error: 'WRONGPASS invalid or missing auth token' } }
      expect(await ask('/ping', { token: null })).toMatchObject(refused)
      expect(await ask('/ping', { token: 'wrong' })).toMatchObject(refused)
      expect(await ask('/ping', { token: '' })).toMatchObject(refused)
      expect(await ask(`/ping?_token=${gateway.token}`, { token: null })).toMatchObject({
        status: 200,
        text: '{"result":"PONG"}',
      })
    },
  ],
  [
    'restapi: the read-only token allows only reads',
    async ({ ask }) => {
      expect((await ask('/get/k', { token: 'reader' })).status).toBe(200)
      expect(await ask('/set/k/v', { token: 'reader' })).toMatchObject({
        status: 400,
        body: { error: "NOPERM this user has no permissions to run the 'set' command or its subcommand" },
      })
      expect((await ask('/', { token: 'reader', body: ['SCAN', 0] })).status).toBe(400)
    },
  ],
  [
    'restapi: a method that is not HEAD, GET, POST or PUT is 405',
    async ({ ask }) => {
      expect((await ask('/get/k', { method: 'DELETE' })).status).toBe(405)
      expect((await ask('/get/k', { method: 'HEAD' })).status).toBe(200)
    },
  ],
  [
    'restapi: an error of Redis, of the syntax or of an unknown command is 400',
    async ({ ask }) => {
      expect(await ask('/get')).toMatchObject({
        status: 400,
        body: { error: "ERR wrong number of arguments for 'get' command" },
      })
      await ask('/set/word/x')
      expect(await ask('/incr/word')).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining('ERR value is not') },
      })
      expect(await ask('/nosuch')).toMatchObject({ status: 400, body: { error: expect.stringContaining('ERR') } })
      expect((await ask('/', { body: '{"a":' })).body).toEqual({ error: 'ERR failed to parse command' })
      expect((await ask('/', { body: ['SET', 'k', { a: 1 }] })).body).toEqual({ error: 'ERR failed to parse command' })
      expect((await ask('/%E0%A4%A')).status).toBe(400)
    },
  ],
  [
    'restapi: commands that block or belong to a connection are refused',
    async ({ ask }) => {
      const refused = (name: string) =>
        `ERR Command is not available: '${name}'. See https://upstash.com/docs/redis/overall/rediscompatibility for details`
      for (const command of [
        ['BLPOP', 'k', 0],
        ['multi'],
        ['WATCH', 'k'],
        ['SELECT', 1],
        ['CLIENT', 'ID'],
        ['MONITOR'],
        ['CONFIG', 'SET', 'save', ''],
      ]) {
        expect(await ask('/', { body: command })).toMatchObject({
          status: 400,
          body: { error: refused(String(command[0]).toUpperCase()) },
        })
      }
      expect((await ask('/', { body: ['XREAD', 'BLOCK', 0, 'STREAMS', 's', '$'] })).body).toEqual({
        error: refused('XREAD'),
      })
      expect((await ask('/', { body: ['XREAD', 'COUNT', 1, 'STREAMS', 'block', 0] })).body).toEqual({ result: null })
      expect((await ask('/', { body: ['CONFIG', 'GET', 'notify-keyspace-events'] })).status).toBe(200)
    },
  ],
  [
    'restapi: a pipeline answers in order and continues after an error',
    async ({ ask, plain }) => {
      const commands = [['SET', 'k', 'x'], ['INCR', 'k'], ['BLPOP', 'k', 0], [], 'text', ['INCR', 'n']]
      const { status, body } = await ask('/pipeline', { body: commands })
      expect(status).toBe(200)
      expect(body).toEqual([
        { result: 'OK' },
        { error: expect.stringContaining('ERR value is not an integer') },
        { error: expect.stringContaining("ERR Command is not available: 'BLPOP'") },
        { error: 'ERR empty pipeline command' },
        { error: 'ERR failed to parse pipeline command' },
        { result: 1 },
      ])
      const kept = await plain.pipeline().incr('k').incr('n').exec<[number, number]>({ keepErrors: true })
      expect(kept).toEqual([{ error: expect.stringContaining('ERR value') }, { result: 2, error: undefined }])
    },
  ],
  [
    'restapi: an empty pipeline, or a pipeline that is not a list, is refused as a whole',
    async ({ ask }) => {
      expect(await ask('/pipeline', { body: [] })).toMatchObject({
        status: 400,
        body: { error: 'ERR empty pipeline request' },
      })
      expect(await ask('/pipeline', { body: { a: 1 } })).toMatchObject({
        status: 400,
        body: { error: 'ERR failed to parse pipeline request' },
      })
    },
  ],
  [
    'restapi: a transaction is atomic, and an error of one command does not stop the other commands',
    async ({ plain, ask }) => {
      expect(await plain.multi().set('t', 'a').append('t', 'b').get('t').exec()).toEqual(['OK', 2, 'ab'])
      const { status, body } = await ask('/multi-exec', {
        body: [
          ['INCR', 't'],
          ['GET', 't'],
          ['HGETALL', 'none'],
        ],
      })
      expect(status).toBe(200)
      expect(body).toEqual([{ error: expect.stringContaining('ERR value') }, { result: 'ab' }, { result: [] }])
    },
  ],
  [
    'restapi: transactions of many clients do not mix',
    async ({ plain }) => {
      const increments = () =>
        plain.multi().get('c').incr('c').incr('c').get('c').exec<[string | null, number, number, string]>()
      for (const [before, , , after] of await Promise.all(Array.from({ length: 50 }, increments))) {
        expect(Number(after)).toBe(Number(before ?? 0) + 2)
      }
    },
  ],
  [
    'restapi: a transaction with a command that cannot run returns one error and has no effect',
    async ({ ask }) => {
      const wrong = await ask('/multi-exec', { body: [['SET', 'd', 1], ['GET']] })
      expect(wrong).toMatchObject({ status: 400, body: { error: "ERR wrong number of arguments for 'get' command" } })
      const refused = await ask('/multi-exec', {
        body: [
          ['SET', 'd', 1],
          ['BLPOP', 'k', 0],
        ],
      })
      expect(refused).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining("ERR Command is not available: 'BLPOP'") },
      })
      expect((await ask('/exists/d')).body).toEqual({ result: 0 })
      expect((await ask('/set/d/2')).text).toBe('{"result":"OK"}')
    },
  ],
  [
    'restapi: invalid UTF-8 becomes U+FFFD, unless the answer is base64',
    async ({ ask }) => {
      const bytes = Buffer.from([0x61, 0xff, 0x00, 0x22, 0xc3, 0xa9])
      await ask('/set/bytes', { body: bytes })
      expect((await ask('/get/bytes')).body).toEqual({ result: 'a\ufffd\u0000"é' })
      const encoded = await ask('/get/bytes', { headers: { 'upstash-encoding': 'base64' } })
      expect(encoded.body).toEqual({ result: bytes.toString('base64') })
    },
  ],
  [
    'restapi: with base64, every string except OK is encoded, and numbers and null stay unchanged',
    async ({ ask, client }) => {
      const headers = { 'upstash-encoding': 'base64' }
      expect((await ask('/set/k/v', { headers })).text).toBe('{"result":"OK"}')
      expect((await ask('/', { headers, body: ['EVAL', "return {'a', 7, false, {'b'}}", 0] })).body).toEqual({
        result: ['YQ==', 7, null, ['Yg==']],
      })
      await client.set('word', 'OK')
      expect(await client.get('word')).toBe('OK')
      expect(await client.mget('word', 'none')).toEqual(['OK', null])
    },
  ],
  [
    'restapi: resp2 returns the raw reply',
    async ({ ask }) => {
      const headers = { 'upstash-response-format': 'resp2' }
      const set = await ask('/set/k/v', { headers })
      expect([set.text, set.headers.get('content-type')]).toEqual(['+OK\r\n', 'application/octet-stream'])
      expect((await ask('/get/k', { headers })).text).toBe('$1\r\nv\r\n')
      expect((await ask('/multi-exec', { headers, body: [['GET', 'k']] })).body).toEqual([{ result: 'v' }])
      expect((await ask('/get/k', { headers: { ...headers, 'upstash-encoding': 'base64' } })).status).toBe(400)
      expect((await ask('/get/k', { headers: { 'upstash-response-format': 'xml' } })).status).toBe(400)
    },
  ],
  [
    'restapi: subscribers receive published messages, as server-sent events',
    async ({ client, ask, gateway }) => {
      const response = await fetch(`${gateway.url}/subscribe/chat`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.token}`, accept: 'text/event-stream' },
      })
      const events = response.body!.pipeThrough(new TextDecoderStream()).getReader()
      expect((await events.read()).value).toBe('data: subscribe,chat,1\n\n')
      expect((await ask('/publish/chat/hello')).body).toEqual({ result: 1 })
      expect((await events.read()).value).toBe('data: message,chat,hello\n\n')
      await events.cancel()

      const subscriber = client.psubscribe(['news:*'])
      const heard = new Promise((resolve) => subscriber.on('pmessage', resolve))
      await new Promise((resolve) => subscriber.on('psubscribe', resolve))
      await client.publish('news:1', { n: 1 })
      expect(await heard).toEqual({ pattern: 'news:*', channel: 'news:1', message: { n: 1 } })
      await subscriber.unsubscribe()
    },
  ],
  [
    'billing: a request of more than 10 MB is refused, and the connection stays open',
    async ({ ask, plain }) => {
      const value = 'x'.repeat(10 * 1024 * 1024)
      const { status, body } = await ask('/', { body: ['SET', 'big', value] })
      expect(status).toBe(400)
      expect(body).toEqual({
        error: expect.stringMatching(/^ERR max request size exceeded. Limit: 10485760 bytes, Actual: 1048577\d bytes/),
      })
      expect(await plain.set('big', value.slice(0, 8_000_000))).toBe('OK')
      expect(await plain.strlen('big')).toBe(8_000_000)
    },
  ],
  [
    'billing: an answer of more than 10 MB is refused too',
    async ({ ask, plain }) => {
      for (const key of ['a', 'b']) await plain.set(key, 'x'.repeat(6_000_000))
      expect(await ask('/mget/a/b')).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining('ERR max request size exceeded') },
      })
    },
  ],
  [
    'readyourwrites: every answer carries a sync token, which the client sends back',
    async ({ ask, plain }) => {
      const [one, two] = [await ask('/ping'), await ask('/ping')]
      expect(one.headers.get('upstash-sync-token')).toBeTruthy()
      expect(two.headers.get('upstash-sync-token')).not.toBe(one.headers.get('upstash-sync-token'))
      await plain.ping()
      expect(plain.readYourWritesSyncToken).toBeTruthy()
    },
  ],
  [
    'sdk: with the default options, values are returned unchanged',
    async ({ client }) => {
      const value = { text: 'ümlaut "quoted" \\ \n\t\u0001 €😀', list: [1, 'two', null, true] }
      await client.set('value', value)
      expect(await client.get('value')).toEqual(value)
      await client.hset('hash', { a: 1, b: 'two' })
      expect(await client.hgetall('hash')).toEqual({ a: 1, b: 'two' })
    },
  ],
  [
    'sdk: calls of one tick share a request',
    async ({ client, gateway }) => {
      const before = gateway.requests
      expect(await Promise.all([client.incr('a'), client.incr('a'), client.incr('a')])).toEqual([1, 2, 3])
      expect(gateway.requests - before).toBe(1)
    },
  ],
  [
    'sdk: its error contains the text of the server',
    async ({ plain }) => {
      await plain.set('word', 'x')
      await expect(plain.incr('word')).rejects.toThrow(/^ERR value is not an integer or out of range, command was:/)
    },
  ],
  [
    'scripting: a script returns nested lists, numbers and null',
    async ({ plain }) => {
      const script = "return {'job', 7, {KEYS[1], {ARGV[1], {}}}, false, redis.call('GET', 'none')}"
      expect(await plain.eval(script, ['k'], ['v"\\é'])).toEqual(['job', 7, ['k', ['v"\\é', []]], null, null])
    },
  ],
  [
    'scripting: the caller receives a refusal of the script with its code',
    async ({ plain }) => {
      await expect(plain.eval("return redis.error_reply('GONE job 7')", [], [])).rejects.toThrow(/^GONE job 7/)
    },
  ],
  [
    'scripting: EVALSHA of an unknown script returns NOSCRIPT, and then the client sends the whole script',
    async ({ plain, gateway }) => {
      const script = `return ${Math.random()} and ARGV[1]`
      await expect(plain.evalsha(sha1(script), [], ['x'])).rejects.toThrow(/^NOSCRIPT/)
      const before = gateway.requests
      const prepared = plain.createScript<string>(script)
      expect([await prepared.exec([], ['one']), await prepared.exec([], ['two'])]).toEqual(['one', 'two'])
      expect(gateway.requests - before).toBe(3)
    },
  ],
  [
    'scripting: SCRIPT LOAD, EXISTS and FLUSH know a script by the sha of its text',
    async ({ plain }) => {
      const script = 'return ARGV[1]'
      expect(await plain.scriptLoad(script)).toBe(sha1(script))
      expect(await plain.scriptExists(sha1(script), sha1('other'))).toEqual([1, 0])
      expect(await plain.evalsha(sha1(script), [], ['here'])).toBe('here')
      await plain.scriptFlush()
      expect(await plain.scriptExists(sha1(script))).toEqual([0])
      await expect(plain.evalsha(sha1(script), [], ['x'])).rejects.toThrow(/^NOSCRIPT/)
      expect(await plain.eval(script, [], ['again'])).toBe('again')
      expect(await plain.evalsha(sha1(script).toUpperCase(), [], ['cached'])).toBe('cached')
    },
  ],
  [
    'scripting: a script runs in a pipeline and in a transaction',
    async ({ plain }) => {
      const script = "return redis.call('INCR', KEYS[1])"
      expect(await plain.pipeline().eval(script, ['n'], []).get('n').exec()).toEqual([1, '1'])
      expect(await plain.multi().evalsha(sha1(script), ['n'], []).get('n').exec()).toEqual([2, '2'])
    },
  ],
  [
    'gateway: a large nested answer arrives whole',
    async ({ plain }) => {
      const script =
        "local all = {} for i = 1, 3000 do all[i] = {'job:' .. i, tostring(i), {'state', ARGV[1]}} end return all"
      const answer = await plain.eval<string[], unknown[]>(script, [], ['{"text":"é"}'.repeat(4)])
      expect(answer).toHaveLength(3000)
      expect(answer[2999]).toEqual(['job:3000', '3000', ['state', '{"text":"é"}'.repeat(4)]])
    },
  ],
  [
    'gateway: each of many concurrent requests gets its own answer',
    async ({ plain }) => {
      const asked = Array.from({ length: 300 }, (_, i) => `value-${i}`)
      expect(await Promise.all(asked.map((value) => plain.eval('return ARGV[1]', [], [value])))).toEqual(asked)
    },
  ],
  [
    'gateway: faults.drop runs the command and loses the answer',
    async ({ plain, gateway }) => {
      gateway.faults.drop({ nth: 2 })
      expect(await plain.incr('n')).toBe(1)
      await expect(plain.incr('n')).rejects.toThrow('fetch failed')
      expect(await plain.get('n')).toBe('2')
    },
  ],
  [
    'gateway: faults.lose resets the connection and runs nothing',
    async ({ plain, gateway }) => {
      gateway.faults.lose({ when: ([command]) => command?.[0] === 'incr' })
      expect(await plain.set('n', '1')).toBe('OK')
      await expect(plain.incr('n')).rejects.toThrow('fetch failed')
      expect(await plain.get('n')).toBe('1')
    },
  ],
  [
    'gateway: faults.refuse answers 429 or 503 and runs nothing',
    async ({ ask, gateway }) => {
      gateway.faults.refuse(429)
      gateway.faults.refuse(503, { nth: 2, times: 2 })
      const answers = [await ask('/incr/n'), await ask('/incr/n'), await ask('/incr/n'), await ask('/incr/n')]
      expect(answers.map((answer) => answer.status)).toEqual([429, 503, 503, 200])
      expect(answers[0]!.body).toEqual({ error: expect.stringContaining('ERR max requests limit exceeded') })
      expect(answers[3]!.body).toEqual({ result: 1 })
    },
  ],
  [
    'gateway: faults.delay waits before it runs the command',
    async ({ plain, gateway }) => {
      gateway.faults.delay(80)
      const start = Date.now()
      const [seconds, micros] = await plain.time()
      // A timer may be a millisecond early.
      expect(seconds * 1_000 + micros / 1_000 - start).toBeGreaterThan(78)
    },
  ],
  [
    'gateway: counts round trips, commands and bytes',
    async ({ plain, gateway }) => {
      const before = { ...gateway.counters }
      await plain.pipeline().ping().ping().exec()
      const bytes = '[["ping"],["ping"]]'.length + '[{"result":"PONG"},{"result":"PONG"}]'.length
      expect(gateway.counters).toEqual({
        requests: before.requests + 1,
        commands: before.commands + 2,
        bytes: before.bytes + bytes,
      })
    },
  ],
]

export function exercise(name: string, start: () => Promise<RunningRedis>) {
  describe(name, () => {
    let world: World

    beforeAll(async () => {
      const redis = await start()
      const gateway = await startGateway({ redis, token: 'secret', readOnlyToken: 'reader' })
      world = { redis, gateway, ...clients(gateway) }
    })
    afterAll(async () => {
      await world?.gateway.close()
      await world?.redis.close()
    })
    beforeEach(async () => {
      world.gateway.faults.clear()
      await world.plain.flushall()
    })

    for (const [behaviour, check] of rows) test(behaviour, () => check(world))
  })
}

export function clients(gateway: Gateway) {
  const { url, token } = gateway
  const plain = new Redis({
    url,
    token,
    enableAutoPipelining: false,
    automaticDeserialization: false,
    responseEncoding: false,
    enableTelemetry: false,
    retry: { retries: 0 },
  })
  const ask = async (
    path: string,
    { method = 'POST', body, headers, token: given = token }: Ask = {},
  ): Promise<Answer> => {
    const response = await fetch(url + path, {
      method,
      headers: { ...(given === null ? {} : { authorization: `Bearer ${given}` }), ...headers },
      body:
        body === undefined || typeof body === 'string'
          ? (body as string | undefined)
          : Buffer.isBuffer(body)
            ? new Uint8Array(body)
            : JSON.stringify(body),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type') === 'application/json' && text !== ''
    return { status: response.status, body: isJson ? JSON.parse(text) : text, text, headers: response.headers }
  }
  return { client: new Redis({ url, token }), plain, ask }
}

export function sha1(text: string) {
  return createHash('sha1').update(text).digest('hex')
}

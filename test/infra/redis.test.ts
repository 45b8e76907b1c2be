import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findServer, startRedis } from '../../infra/stand-ins/redis.ts'
import { type Address, ConnectionLost, connect, RespError, text } from '../../infra/stand-ins/resp.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sidejob-redis-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

describe.skipIf(!findServer())('a server of this machine', () => {
  test('keeps its data from one start to the next', async () => {
    const first = await startRedis({ force: 'server', dir })
    expect(first).toMatchObject({
      kind: 'server',
      host: '127.0.0.1',
      describe: expect.stringContaining(`data in ${dir}`),
    })
    await say(first, 'SET', 'kept', 'yes')
    await first.close()
    await expect(connect(first)).rejects.toThrow('ECONNREFUSED')

    const second = await startRedis({ force: 'server', dir })
    expect(await say(second, 'GET', 'kept')).toBe('yes')
    await second.close()
  })

  test('ends when its owner is killed, and the next start finds the data', async () => {
    const { owner, address } = await startInOtherProcess(dir)
    await say(address, 'SET', 'kept', 'yes')
    owner.kill('SIGKILL')
    const next = await startRedis({ force: 'server', dir })
    expect(await say(next, 'GET', 'kept')).toBe('yes')
    await next.close()
    await until(async () => !(await answers(address)))
  })

  test('that was left behind is stopped by the next start, which finds the data', async () => {
    const port = await freePort()
    const stale = spawn(
      findServer()!,
      ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', dir, '--appendonly', 'yes', '--save', ''],
      { stdio: 'ignore' },
    )
    const address = { host: '127.0.0.1', port }
    await until(() => answers(address))
    await say(address, 'SET', 'kept', 'yes')
    writeFileSync(join(dir, 'server.json'), JSON.stringify({ pid: stale.pid, port }))

    const next = await startRedis({ force: 'server', dir })
    expect(await answers(address)).toBe(false)
    expect(await say(next, 'GET', 'kept')).toBe('yes')
    await next.close()
  })

  test('is left alone while its owner lives', async () => {
    const first = await startRedis({ force: 'server', dir })
    await expect(startRedis({ force: 'server', dir })).rejects.toThrow(
      `in use by the Redis of another sidejob (process ${process.pid})`,
    )
    expect(await say(first, 'PING')).toBe('PONG')
    await first.close()
  })

  test('that cannot start names the reason', async () => {
    const file = join(dir, 'file')
    writeFileSync(join(dir, 'appendonlydir'), 'not a folder')
    writeFileSync(file, '')
    await expect(startRedis({ force: 'server', dir })).rejects.toThrow(/does not start:[\s\S]*appendonlydir/)
  })

  test('names a port that is taken', async () => {
    const taken = await startRedis({ force: 'server', persist: false })
    await expect(startRedis({ force: 'server', persist: false, port: taken.port })).rejects.toThrow(
      `Redis needs 127.0.0.1:${taken.port}, which another process uses`,
    )
    await taken.close()
  })

  test('that is given by its address is used, and continues to run', async () => {
    const server = await startRedis({ force: 'server', persist: false })
    await say(server, 'CONFIG', 'SET', 'requirepass', 'p@ss')
    const url = `redis://:p%40ss@127.0.0.1:${server.port}/3`
    const given = await startRedis({ force: url })
    expect(given).toMatchObject({ kind: 'url', port: server.port, db: 3, password: 'p@ss' })
    expect(given.describe).not.toContain('p@ss')
    await say(given, 'SET', 'k', 'in three')
    await given.close()
    const other = new Redis(url)
    expect(await other.get('k')).toBe('in three')
    other.disconnect()
    await expect(startRedis({ force: `redis://:wrong@127.0.0.1:${server.port}` })).rejects.toThrow(
      /refuses AUTH: WRONGPASS/,
    )
    await server.close()
  })
})

test('the embedded Redis works with any client, on this machine only, until it is closed', async () => {
  const redis = await startRedis({ force: 'embedded', persist: false })
  expect(redis).toMatchObject({
    kind: 'embedded',
    host: '127.0.0.1',
    describe: 'embedded Redis, data is discarded when this process ends',
  })
  const client = new Redis(redis.port, redis.host)
  expect(await client.set('k', 'v')).toBe('OK')
  expect(await client.eval("return redis.call('GET', KEYS[1])", 1, 'k')).toBe('v')
  client.disconnect()
  await expect(startRedis({ force: 'embedded', persist: false, port: redis.port })).rejects.toThrow(
    'which another process uses',
  )
  await redis.close()
  expect(await answers(redis)).toBe(false)
})

const everyKind = [
  ['SET', 'text', 'é\u0000'],
  ['SET', 'short', 'gone soon', 'PX', '600000'],
  ['HSET', 'hash', 'a', '1', 'b', '2'],
  ['RPUSH', 'list', 'x', 'y'],
  ['SADD', 'set', 'm'],
  ['ZADD', 'sorted', '1.5', 'low', '-inf', 'least'],
  ['XADD', 'stream', '5-1', 'field', 'value'],
]

async function reply(address: Address, ...command: string[]) {
  const redis = await connect(address)
  const answer = await redis.call(...command)
  await redis.close()
  return answer
}

const contents = (redis: Address) =>
  Promise.all(
    [
      ['GET', 'text'],
      ['HGETALL', 'hash'],
      ['LRANGE', 'list', '0', '-1'],
      ['SMEMBERS', 'set'],
      ['ZRANGE', 'sorted', '0', '-1', 'WITHSCORES'],
      ['XRANGE', 'stream', '-', '+'],
    ].map((command) => reply(redis, ...command)),
  )

test('the embedded Redis keeps its data from one start to the next', async () => {
  const first = await startRedis({ force: 'embedded', dir })
  expect(first.describe).toBe(`embedded Redis, data in ${dir}`)
  for (const command of everyKind) expect(await reply(first, ...command)).not.toBeInstanceOf(RespError)
  const before = await contents(first)
  await first.close()
  const second = await startRedis({ force: 'embedded', dir })
  expect(await contents(second)).toEqual(before)
  expect(Number(await reply(second, 'PTTL', 'short'))).toBeGreaterThan(500_000)
  await reply(second, 'DEL', 'text')
  await second.close()
  const third = await startRedis({ force: 'embedded', dir })
  expect(await reply(third, 'EXISTS', 'text', 'hash')).toBe(1)
  await third.close()
})

test('the embedded Redis saves a change within seconds, also after its folder was deleted', async () => {
  const redis = await startRedis({ force: 'embedded', dir })
  await say(redis, 'SET', 'kept', 'yes')
  await until(async () => existsSync(join(dir, 'embedded.snapshot')))
  rmSync(dir, { recursive: true })
  await say(redis, 'SET', 'kept', 'again')
  await until(async () => existsSync(join(dir, 'embedded.snapshot')))
  await redis.close()
  const next = await startRedis({ force: 'embedded', dir })
  expect(await say(next, 'GET', 'kept')).toBe('again')
  await next.close()
})

test('two embedded Redis do not share a folder, and a damaged snapshot is named', async () => {
  const first = await startRedis({ force: 'embedded', dir })
  await expect(startRedis({ force: 'embedded', dir })).rejects.toThrow(
    `${dir} is in use by the Redis of another sidejob (process ${process.pid})`,
  )
  await say(first, 'SET', 'kept', 'yes')
  await first.close()
  writeFileSync(join(dir, 'embedded.snapshot'), 'cut off')
  await expect(startRedis({ force: 'embedded', dir })).rejects.toThrow(
    `Cannot read the snapshot ${join(dir, 'embedded.snapshot')}: delete it to start with an empty Redis`,
  )
})

test.each([
  ['SCAN', [], (i: number) => ['SET', `${i}`, ''], ['DEL'], 1],
  ['SSCAN', ['k'], (i: number) => ['SADD', 'k', `${i}`], ['SREM', 'k'], 1],
  ['HSCAN', ['k'], (i: number) => ['HSET', 'k', `${i}`, ''], ['HDEL', 'k'], 2],
  ['ZSCAN', ['k'], (i: number) => ['ZADD', 'k', '1', `${i}`], ['ZREM', 'k'], 2],
] as const)('%s of the embedded Redis skips nothing if each page is deleted', async (scan, key, put, remove, step) => {
  const redis = await startRedis({ force: 'embedded', persist: false })
  const connection = await connect(redis)
  const all = Array.from({ length: 1_000 }, (_, i) => `${i}`)
  await connection.batch(all.map((_, i) => [...put(i)]))
  const found: string[] = []
  let [cursor, pages] = ['', 0]
  for (; cursor !== '0'; pages++) {
    const [next, page] = (await connection.call(scan, ...key, cursor || '0', 'COUNT', '100')) as [Buffer, Buffer[]]
    const names = page.filter((_, i) => i % step === 0).map(String)
    if (names.length > 0) await connection.call(...remove, ...names)
    found.push(...names)
    cursor = String(next)
  }
  expect(found.sort()).toEqual(all.sort())
  expect(pages).toBe(10)
  await connection.close()
  await redis.close()
})

test('a script of the embedded Redis may use 100 MiB, and a script without memory affects no later script', async () => {
  const redis = await startRedis({ force: 'embedded', persist: false })
  const doubled = (times: number) =>
    reply(redis, 'EVAL', `local x = 'x' for i = 1, ${times} do x = x .. x end return #x`, '0')
  expect(await doubled(26)).toBe(2 ** 26)
  expect(await doubled(30)).toMatchObject({ message: expect.stringContaining('more than the 512 MiB of the embedded') })
  expect(await doubled(26)).toBe(2 ** 26)
  await redis.close()
})

test('an error of a long script of the embedded Redis names the script and the line, at each call', async () => {
  const redis = await startRedis({ force: 'embedded', persist: false })
  const script = `-- ${'x'.repeat(1_000)}\nlocal x = {}\nlocal y = x.a.b\nreturn y`
  const sha = createHash('sha1').update(script).digest('hex')
  const message = `ERR user_script:3: attempt to index field 'a' (a nil value) script: ${sha}, on @user_script:3.`
  for (let call = 0; call < 2; call++) expect(await reply(redis, 'EVAL', script, '0')).toMatchObject({ message })
  await redis.close()
})

test('the embedded Redis compiles a long script once', async () => {
  const redis = await startRedis({ force: 'embedded', persist: false })
  const script = `local function unused(t) ${'t = { 1, 2, 3 } '.repeat(5_000)} end return ARGV[1]`
  const cost = async (textOf: (call: number) => string) => {
    const before = process.cpuUsage()
    for (let call = 0; call < 20; call++)
      expect(`${await reply(redis, 'EVAL', textOf(call), '0', `${call}`)}`).toBe(`${call}`)
    return process.cpuUsage(before).user
  }
  const rounds = { different: [] as number[], equal: [] as number[] }
  for (let round = 0; round < 3; round++) {
    rounds.different.push(await cost((call) => `${script} -- ${round} ${call}`))
    rounds.equal.push(await cost(() => script))
  }
  // Other tests in this process make some rounds slower, so this compares the fastest rounds.
  expect(Math.min(...rounds.equal)).toBeLessThan(Math.min(...rounds.different) / 2)
  await redis.close()
})

test('each command of the embedded Redis on a large queue took as long as a copy of the queue', async () => {
  const redis = await startRedis({ force: 'embedded', dir })
  const fill = "for i = 1, tonumber(ARGV[1]) do redis.call('ZADD', KEYS[1], i, 'job' .. i) end"
  await reply(redis, 'EVAL', fill, '1', 'large', '2000')
  await reply(redis, 'EVAL', fill, '1', 'small', '20')
  const use =
    "for i = 1, 200 do redis.call('ZADD', KEYS[1], i, 'job1') redis.call('ZSCORE', KEYS[1], 'job2') end return redis.call('ZCARD', KEYS[1])"
  const cost = async (key: string) => {
    const before = process.cpuUsage()
    await reply(redis, 'EVAL', use, '1', key)
    return process.cpuUsage(before).user
  }
  const rounds = { large: [] as number[], small: [] as number[] }
  for (let round = 0; round < 3; round++) {
    rounds.large.push(await cost('large'))
    rounds.small.push(await cost('small'))
  }
  expect(Math.min(...rounds.large)).toBeLessThan(Math.min(...rounds.small) * 5)
  await redis.close()
})

test('an unavailable Redis is refused with the remedy', async () => {
  await expect(startRedis({ force: 'sqlite' })).rejects.toThrow(
    'SIDEJOB_REDIS: expected embedded, server, strict or redis://host:port, got "sqlite"',
  )
  const port = await freePort()
  await expect(startRedis({ force: `redis://127.0.0.1:${port}` })).rejects.toThrow(
    `no Redis answers at 127.0.0.1:${port} (ECONNREFUSED): start it, correct REDIS_URL`,
  )
  const { PATH: path, REDIS_URL: url } = process.env
  process.env.PATH = dir
  delete process.env.REDIS_URL
  try {
    await expect(startRedis({ force: 'server' })).rejects.toThrow('install one, or set SIDEJOB_REDIS=embedded')
    const fallback = await startRedis({ persist: false })
    expect(fallback.kind).toBe('embedded')
    await fallback.close()
  } finally {
    process.env.PATH = path
    if (url) process.env.REDIS_URL = url
  }
})

describe('the connection', () => {
  test('assembles replies from pieces of any size', async () => {
    const bytes = Buffer.from('*3\r\n$4\r\na\r\nb\r\n*2\r\n:-7\r\n*0\r\n$-1\r\n-GONE job 7\r\n+OK\r\n*-1\r\n$0\r\n\r\n')
    for (const size of [1, 2, 3, 7, 100]) {
      const server = await listen((socket) =>
        socket.once('data', async () => {
          socket.setNoDelay(true)
          for (let i = 0; i < bytes.length; i += size) {
            socket.write(bytes.subarray(i, i + size))
            await new Promise(setImmediate)
          }
        }),
      )
      const redis = await connect(addressOf(server))
      const replies = await Promise.all(Array.from({ length: 5 }, () => redis.call('X')))
      const list = Buffer.from('a\r\nb')
      expect(replies).toEqual([
        [list, [-7, []], null],
        new RespError('GONE job 7'),
        Buffer.from('OK'),
        null,
        Buffer.alloc(0),
      ])
      await redis.close()
      server.close()
    }
  })

  test('carries any bytes both ways, in order', async () => {
    const server = await startRedis({ force: 'embedded', persist: false })
    const redis = await connect(server)
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
    const echoed = await Promise.all([
      redis.call('EVAL', 'return ARGV[1]', 0, bytes),
      redis.call('EVAL', 'return ARGV[1]', 0, 'é€😀'),
      redis.call('GET'),
    ])
    expect(echoed).toEqual([bytes, Buffer.from('é€😀'), expect.any(RespError)])
    await redis.close()
    await server.close()
  })

  test('reports its end to callers that still wait', async () => {
    const server = await listen((socket) => socket.once('data', () => socket.destroy()))
    const redis = await connect(addressOf(server))
    await expect(redis.call('GET', 'k')).rejects.toThrow(ConnectionLost)
    await expect(redis.call('GET', 'k')).rejects.toThrow('closed the connection')
    server.close()
  })
})

async function say(address: Address, ...command: string[]) {
  const redis = await connect(address)
  const reply = await redis.call(...command)
  await redis.close()
  return text(reply)
}

const answers = (address: Address) =>
  say(address, 'PING').then(
    (word) => word === 'PONG',
    () => false,
  )

async function until(isTrue: () => Promise<boolean>) {
  const deadline = Date.now() + 5_000
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error('waited 5 s in vain')
    await sleep(20)
  }
}

async function startInOtherProcess(dir: string) {
  const script = `
    const { startRedis } = await import(${JSON.stringify(new URL('../../infra/stand-ins/redis.ts', import.meta.url).href)})
    const { host, port } = await startRedis({ force: 'server', dir: ${JSON.stringify(dir)} })
    console.log(JSON.stringify({ host, port }))
    setInterval(() => {}, 1_000)`
  const owner = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const line = await new Promise<string>((resolve) => owner.stdout.once('data', (chunk) => resolve(String(chunk))))
  return { owner, address: JSON.parse(line) as Address }
}

function listen(onConnection: (socket: import('node:net').Socket) => void) {
  return new Promise<Server>((resolve) => {
    const server = createServer(onConnection).listen(0, '127.0.0.1', () => resolve(server))
  })
}

const addressOf = (server: Server) => ({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })

async function freePort() {
  const server = await listen(() => {})
  const { port } = addressOf(server)
  await new Promise((resolve) => server.close(resolve))
  return port
}

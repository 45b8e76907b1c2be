import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createEngine } from '../../src/engine/index.ts'
import { type Client, createClient } from '../../src/redis/client.ts'
import { createStore } from '../../src/redis/store.ts'

let answer: { status: number; error: string } | { status: 200; result: unknown } | undefined
let asked = 0
const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    asked++
    if (!answer) return
    const { status, ...body } = answer
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
})
let redis: { url: string; token: string }
let client: Client

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  redis = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 'secret' }
})
beforeEach(() => {
  asked = 0
  client = createClient({ ...redis, timeout: 10_000 })
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const refuse = (error: string, status = 400) => {
  answer = { status, error }
}
const job = { queue: 'default', class: 'zip', args: '"private"', known: true }
const enqueue = (once = true) =>
  createStore({ client })
    .enqueue([job], once ? { key: 'k', period: 1_000 } : undefined)
    .catch((error) => error)

describe('a refusal of Redis', () => {
  test.each([
    ['WRONGPASS invalid or missing auth token', 401, 500, 'MISCONFIGURED', /UPSTASH_REDIS_REST_TOKEN/],
    ['Unauthorized', 401, 500, 'MISCONFIGURED', /UPSTASH_REDIS_REST_TOKEN/],
    ["NOPERM this user has no permissions to run the 'evalsha' command", 403, 500, 'MISCONFIGURED', /read-only/],
    [
      'ERR max request size exceeded. Limit: 10000000 bytes, Actual: 12000000 bytes',
      400,
      413,
      'TOO_LARGE',
      /several smaller requests/,
    ],
    ['ERR max requests limit exceeded. Limit: 500000, Usage: 500000', 400, 507, 'FULL', /larger plan/],
    ['ERR DB capacity quota exceeded', 400, 507, 'FULL', /delete jobs/],
    ['ERR max single record size exceeded', 400, 507, 'FULL', /of one queue\): use more queues/],
    ['LOADING Redis is loading the dataset in memory', 500, 503, 'UNAVAILABLE', /busy/],
    ['ERR Error running script: @user_script:2: private thing', 400, 500, 'INTERNAL', /a script failed/],
    ['something new', 500, 503, 'UNAVAILABLE', /something new/],
  ])('%s', async (error, status, shown, code, says) => {
    refuse(error, status)
    const found = await enqueue()
    expect(found).toMatchObject({ code, status: shown })
    expect(found.message).toMatch(says)
    expect(found.message).not.toMatch(/private|user_script|command was/)
    expect(asked).toBe(1)
  })

  describe.each(['NOSCRIPT is a word', ', command was: NOSCRIPT', 'SCHEMA 9, expected 2 to 2;', 'WRONGPASS'])(
    'args that contain %j do not change the reason, and are not in the error',
    (word) => {
      test.each([
        ['ERR DB capacity quota exceeded', 'FULL', 1],
        ['something new', 'UNAVAILABLE', 1],
        ['ERR Error running script: @user_script:2: attempt to index a nil value', 'INTERNAL', 1],
        ['NOSCRIPT No matching script. Please use EVAL.', 'INTERNAL', 2],
      ])('%s', async (error, code, requests) => {
        refuse(error)
        const args = JSON.stringify(`${word} ${'private '.repeat(10_000)}`)
        const found = await createStore({ client })
          .enqueue([{ ...job, args: args as never }])
          .catch((error) => error)
        expect(found).toMatchObject({ name: 'SidejobError', code })
        const shown = `${found.message} ${found.cause?.message} ${found.stack}`
        expect(shown).not.toContain('private')
        expect(shown).not.toContain(word === 'WRONGPASS' ? word : 'schema 9')
        expect(asked).toBe(requests)
      })
    },
  )

  test('an error of the environment is shown by /health until Redis answers again', async () => {
    refuse('ERR DB capacity quota exceeded')
    const engine = createEngine({
      redis: client,
      qstash: { token: '', publicUrl: 'http://127.0.0.1:1', url: 'http://127.0.0.1:1' },
    })
    await enqueue()
    answer = { status: 200, result: [null, null] }
    expect(await engine.health()).toMatchObject({
      ok: true,
      problems: [{ of: 'redis', code: 'FULL', message: expect.stringContaining('is full') }],
    })
    expect((await engine.health()).problems).toBeUndefined()
    refuse('WRONGPASS invalid or missing auth token', 401)
    expect(await engine.health()).toMatchObject({ ok: false, redis: false, problems: [{ code: 'MISCONFIGURED' }] })
  })
})

describe('a request that Redis does not answer', () => {
  beforeEach(() => {
    answer = undefined
    client = createClient({ ...redis, timeout: 100 })
  })

  test('is repeated if it has the key of its call', async () => {
    expect(await enqueue()).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('within 100 ms') })
    expect(asked).toBe(3)
  })

  test('is not repeated if Redis could apply it twice', async () => {
    expect(await enqueue(false)).toMatchObject({ code: 'UNAVAILABLE' })
    expect(asked).toBe(1)
  })
})

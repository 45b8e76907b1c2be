import { describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { createWorker } from '../../src/cloudflare/node.ts'
import { readWorker } from '../../src/core/definition.ts'
import { check } from '../../src/core/issues.ts'
import { worker as registered } from '../../src/core/schemas.ts'
import type { Worker } from '../../src/core/worker.ts'
import { defineWorker, port } from '../../src/index.ts'

const perform = () => undefined
const one = (options: object) => ({ class: 'one', perform, ...options }) as never

function messageOf(act: () => unknown): string | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

const WHERE = 'class one of queue default: '

describe('defineWorker and createWorker refuse the same options as HTTP, with the same messages', () => {
  test.each<[string, object]>([
    ['a negative retry.max', { retry: { max: -3 } }],
    ['a factor below 1', { retry: { backoff: { factor: 0.5 } } }],
    ['a jitter above 1', { retry: { backoff: { jitter: 2 } } }],
    ['an empty list of delays', { retry: { backoff: { delays: [] } } }],
    ['an unknown member', { retries: 3 }],
    ['an unknown member of retry', { retry: { attempts: 3 } }],
    ['a concurrency of 0', { concurrency: 0 }],
    ['a concurrency that is no whole number', { concurrency: 1.5 }],
    ['a timeout of 0', { timeout: 0 }],
    ['a timeout above ten years', { timeout: '600 weeks' }],
    ['a history of 101', { history: 101 }],
    ['eleven limits', { limits: Array.from({ length: 11 }, () => ({ concurrency: 1 })) }],
    ['a rate without a period', { limits: [{ rate: { limit: 1 } }] }],
    ['a rate of 0', { limits: [{ rate: { limit: 0, period: '1s' } }] }],
    ['a port with a wrong name', { in: { 'a-b': {} } }],
    ['an unknown member of a port', { out: { a: { defaults: 1 } } }],
    ['a reach that does not exist', { reach: 'everything' }],
    ['a description of 10,001 characters', { description: 'x'.repeat(10_001) }],
    ['a path to redact that does not exist', { redact: ['arg.card'] }],
  ])('%s', (_, options) => {
    const overHttp = messageOf(() => check(registered, options))
    expect(overHttp).toBeDefined()
    expect(messageOf(() => defineWorker(one(options)))).toBe(WHERE + overHttp)
    expect(messageOf(() => createWorker({ functions: [one(options)] }))).toBe(WHERE + overHttp)
  })

  test.each<[string, object, string]>([
    ['no function', { perform: undefined }, 'perform: expected a function, got undefined'],
    ['a shutdown that is no function', { shutdown: true }, 'shutdown: expected a function, got true'],
    ['args that are no schema', { args: { n: 'number' } }, 'args: expected a Zod 4 schema, got an object'],
    ['a maxLost of 0', { maxLost: 0 }, 'maxLost: expected at least 1, got 0'],
    ['a queue with a colon', { queue: 'a:b' }, 'queue: expected a queue name: 1 to 255 bytes of text without control'],
    ['NaN as a duration', { timeout: Number.NaN }, 'timeout: expected a number or a string, got NaN'],
    ['a negative duration', { retain: -1 }, 'retain: expected a duration in milliseconds or like "5m", "1h30m"'],
    ['a unit that does not exist', { timeout: '5 moons' }, 'timeout: expected a duration in milliseconds or like "5m"'],
    ['a cron pattern', { cron: { expression: '0 25 * * *' } }, 'cron: expected valid cron fields'],
    ['a zone', { cron: { expression: '0 2 * * *', tz: 'Mars' } }, 'cron: expected '],
    ['args of cron', { args: z.object({ n: z.number() }), cron: { expression: '* * * * *' } }, 'cron: args: expected '],
    ['an unknown member of cron', { cron: { expression: '* * * * *', zone: 'x' } }, 'cron.zone: unknown member'],
  ])('and of what only functions have: %s', (_, options, message) => {
    const where = 'queue' in options ? 'class one of queue a:b: ' : WHERE
    expect(messageOf(() => defineWorker(one(options)))).toMatch(where + message)
  })
})

describe('createWorker throws when it is called, before the first request', () => {
  test('if a class is defined twice for a queue', () => {
    const again = defineWorker({ class: 'one', perform })
    expect(() => createWorker({ functions: [one({}), defineWorker({ class: 'two', perform }), again] })).toThrow(
      'class one is defined twice for queue default: functions[0] and functions[2]; rename or remove one of them',
    )
    expect(() => createWorker({ functions: [one({}), one({ queue: 'other' })] })).not.toThrow()
  })

  test('if the list has an undefined', () => {
    expect(() => createWorker({ functions: [one({}), undefined as never] })).toThrow(
      'functions[1]: expected a class that defineWorker returned, got undefined',
    )
  })

  test('if there is no list', () => {
    expect(() => createWorker({} as never)).toThrow('functions: expected a list of classes, got undefined')
  })

  test('if the retry policy of the deployment is wrong', () => {
    expect(() => createWorker({ functions: [], retry: { max: -1 } })).toThrow('retry.max: expected at least 0, got -1')
  })
})

test('a class name may contain spaces, as over HTTP', () => {
  expect(() => defineWorker({ class: 'my hello!', perform })).not.toThrow()
})

test('durations are milliseconds, or texts that the API accepts', () => {
  const read = readWorker({
    class: 'one',
    perform,
    timeout: '2m',
    retain: 'forever',
    retry: { backoff: { base: '1s', cap: 60_000, delays: ['1h30m', 5] } },
    limits: [{ rate: { limit: 10, period: '1 minute' } }],
  })
  expect(read).toMatchObject({
    timeout: 120_000,
    retain: 100 * 365.25 * 86_400_000,
    retry: { backoff: { base: 1_000, cap: 60_000, delays: [5_400_000, 5] } },
    limits: [{ rate: { limit: 10, period: 60_000 } }],
  })
  expect(readWorker({ class: 'one', perform, retry: { backoff: '1s' } }).retry).toEqual({ backoff: { base: 1_000 } })
})

test('a definition that is read twice stays the same', () => {
  const defined = {
    class: 'one',
    perform,
    retain: 'forever',
    args: z.object({}),
    in: { n: port(z.number()) },
  } as Worker
  const read = readWorker(defined)
  expect(readWorker(read as Worker)).toEqual(read)
})

describe('a Worker that is configured wrongly answers JSON with the reason', () => {
  const answered = async (env: Record<string, string>, settings: object = {}) => {
    const worker = createWorker<object>({ functions: [], ...settings })
    const response = await worker.fetch(new Request('http://w/health'), env, { waitUntil: () => undefined })
    return { status: response.status, body: await response.json() }
  }
  const complete = {
    UPSTASH_REDIS_REST_URL: 'http://127.0.0.1:1',
    UPSTASH_REDIS_REST_TOKEN: 't',
    QSTASH_TOKEN: 't',
    QSTASH_CURRENT_SIGNING_KEY: 'a',
    QSTASH_NEXT_SIGNING_KEY: 'b',
    PUBLIC_URL: 'http://w',
  }

  test.each<[string, Record<string, string>, object, number, string, string]>([
    ['settings are missing', {}, {}, 503, 'UNAVAILABLE', 'not configured: UPSTASH_REDIS_REST_URL'],
    [
      'a duration is wrong',
      { ...complete, SIDEJOB_LANE_LEASE: 'long' },
      {},
      500,
      'MISCONFIGURED',
      'SIDEJOB_LANE_LEASE: ',
    ],
    ['the URL is none', { ...complete, PUBLIC_URL: 'jobs' }, { mount: '/' }, 500, 'MISCONFIGURED', 'PUBLIC_URL: '],
    ['a key is none', { ...complete, SIDEJOB_ENCRYPTION_KEY: 'x' }, {}, 500, 'MISCONFIGURED', 'SIDEJOB_ENCRYPTION_KEY'],
  ])('if %s', async (_, env, settings, status, code, message) => {
    const silent = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const answer = await answered(env, settings)
    expect(answer).toMatchObject({ status, body: { error: { code, message: expect.stringContaining(message) } } })
    expect(silent).toHaveBeenCalledOnce()
    silent.mockRestore()
  })
})

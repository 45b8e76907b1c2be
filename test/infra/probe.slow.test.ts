// The probe is meant for a real account. These tests use stand-ins.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Client } from '@upstash/qstash'
import { Redis } from '@upstash/redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { databaseQuestion } from '../../infra/probe/account.ts'
import { hider, probe } from '../../infra/probe/index.ts'
import { questionsOfRedis } from '../../infra/probe/redis.ts'
import { answerOf, type Line } from '../../infra/probe/verdict.ts'
import { startGateway } from '../../infra/stand-ins/gateway.ts'
import { development } from '../../infra/stand-ins/qstash.ts'
import { startRedis } from '../../infra/stand-ins/redis.ts'
import { canBuild, strictBinary } from '../../infra/stand-ins/strict/index.ts'
import { startWorkerd, type Workerd } from '../e2e/workerd/kit.ts'
import { startCloud } from './deploy/cloud.ts'

const measured = [
  'Lua: a large number as an index of a table',
  'one script called 50 times',
  '20 ticks at once',
  'the Worker',
  '10 jobs in sequence, from the call to the end',
  'jobs with a delay',
]
/** This check fails here, because in the local stack only QStash sends ticks. */
const CRON = "a tick of Cloudflare's cron trigger"
/** Milliseconds. On a real account, these waits take minutes. */
const short = { silence: 300, cronPatience: 300, delays: [1, 2] }
const RECORD = 12_000_000

const about = (lines: Line[], part: string): Line => {
  const found = lines.filter((line) => line.about.includes(part))
  expect(found).toHaveLength(1)
  return found[0]!
}

describe.skipIf(!canBuild())('the probe', { timeout: 120_000 }, () => {
  let world: Workerd
  let env: Record<string, string>
  let redis: Redis
  let qstash: Client

  beforeAll(async () => {
    await strictBinary()
    world = await startWorkerd({ redis: 'strict', vars: {} })
    const { gateway, qstash: there } = world.stack.note
    env = {
      UPSTASH_REDIS_REST_URL: gateway.url,
      UPSTASH_REDIS_REST_TOKEN: gateway.token,
      QSTASH_URL: there.url,
      QSTASH_TOKEN: there.token,
      QSTASH_CURRENT_SIGNING_KEY: development.currentSigningKey,
      QSTASH_NEXT_SIGNING_KEY: development.nextSigningKey,
      PUBLIC_URL: `${world.stack.url}/`,
      SIDEJOB_API_KEY: world.stack.apiKey,
    }
    redis = new Redis({ ...gateway, retry: false, automaticDeserialization: false })
    qstash = new Client({ baseUrl: there.url, token: there.token, devMode: false })
  }, 300_000)
  afterAll(() => world?.close())

  const billed = async () => JSON.parse(await redis.exec<string>(['STRICT', 'COUNTS'])).commands as number
  const schedules = async () => (await qstash.schedules.list()).map(({ scheduleId }) => scheduleId)

  test('confirms the stand-ins, lists unknown answers, and leaves nothing behind', async () => {
    await redis.exec(['STRICT', 'LIMIT', 'record', RECORD])
    const [before, ticking] = [await billed(), await schedules()]
    const said: string[] = []
    const lines = await probe({
      env,
      record: RECORD,
      say: (line) => said.push(line),
      maxWait: 20_000,
      pause: 50,
      ...short,
    })
    await redis.exec(['STRICT', 'LIMIT', 'record', 0])

    expect(about(lines, CRON)).toMatchObject({
      verdict: 'differs',
      got: expect.stringMatching(/^last tick at .* by qstash$/),
    })
    const judged = lines.filter((line) => !measured.includes(line.about) && line.about !== CRON)
    expect(judged.filter(({ verdict }) => verdict === 'differs')).toEqual([])
    expect(judged.filter(({ verdict }) => verdict === 'ok')).toHaveLength(27)
    expect(lines.filter(({ verdict }) => verdict === 'not known').map((line) => line.about)).toEqual([
      'billed commands of 100 scripts with 10 commands each',
      'the maximum time that a delivery waits for the response',
      'the address of a version that no longer serves PUBLIC_URL',
      'a run that the serving version sends to the address of an earlier one',
      'the time for which a replaced version keeps its address',
      'concurrent connections of an invocation',
      'isolated runs of one invocation, and their shared memory',
      'a waiting claim whose caller disconnects',
      'the cost of an idle day',
      'the plan of the database',
    ])
    for (const line of lines.filter((one) => measured.includes(one.about))) expect(line.got).toMatch(/\d ms/)
    expect(lines).toHaveLength(27 + 10 + measured.length + 1)

    expect(said).toHaveLength(lines.length)
    for (const name of Object.keys(env).filter((one) => /TOKEN|SIGNING_KEY/.test(one)))
      expect(said.join('\n')).not.toContain(env[name])
    expect(await schedules()).toEqual(ticking)
    expect((await redis.keys('*')).filter((key) => key.includes('sidejob-probe-'))).toEqual([])
    expect((await billed()) - before).toBeLessThan(3_000)
  })

  test('names differences, and shows no key', async () => {
    const { scheduleId } = (await qstash.schedules.list())[0]!
    await qstash.schedules.pause({ schedule: scheduleId })
    const wrong = { ...env, QSTASH_CURRENT_SIGNING_KEY: 'sig_of_another_region' }
    const said: string[] = []
    const lines = await probe({ env: wrong, say: (line) => said.push(line), maxWait: 20_000, pause: 50, ...short })
    await qstash.schedules.resume({ schedule: scheduleId })
    expect(about(lines, 'the signing keys')).toMatchObject({
      verdict: 'differs',
      got: 'different: QSTASH_CURRENT_SIGNING_KEY',
    })
    expect(about(lines, 'schedules that tick this Worker')).toMatchObject({
      verdict: 'differs',
      got: expect.stringContaining('paused'),
    })
    expect(about(lines, 'a script that fills a record')).toMatchObject({
      verdict: 'not known',
      got: expect.stringContaining('--record'),
    })
    for (const secret of ['sig_of_another_region', development.currentSigningKey])
      expect(said.join('\n')).not.toContain(secret)
  })

  test('if a token is refused, answers are unknown and not different, and the token is not shown', async () => {
    const wrong = { ...env, QSTASH_TOKEN: 'an unknown token' }
    const said: string[] = []
    await expect(
      probe({ env: wrong, say: (line) => said.push(line), maxWait: 100, pause: 50, ...short }),
    ).rejects.toThrow('keys or schedules of the probe could not be removed')
    expect(said.find((line) => line.includes('the signing keys'))).toContain('expected 200, got 401')
    expect(said.find((line) => line.includes('the signing keys'))).toMatch(/^not known/)
    expect(said.join('\n')).not.toContain('an unknown token')
  })

  test('secrets are hidden as whole words only', () => {
    const hide = hider({ UPSTASH_REDIS_REST_TOKEN: 'x', QSTASH_TOKEN: 'a.b+c==' })
    expect(hide('index 1 of x: a.b+c== and aXb+c==, x-ray')).toBe(
      'index 1 of <UPSTASH_REDIS_REST_TOKEN>: <QSTASH_TOKEN> and aXb+c==, x-ray',
    )
  })

  test('plan, eviction and budget come from the API of Upstash', async () => {
    const cloud = await startCloud()
    try {
      expect(await answerOf(databaseQuestion(cloud.env))).toMatchObject({
        verdict: 'ok',
        got: 'plan paid, region us-east-1, eviction off, read regions none, budget none',
      })
      cloud.state.databases = [{ ...cloud.state.databases[0]!, eviction: true, budget: 20 }]
      expect(await answerOf(databaseQuestion(cloud.env))).toMatchObject({
        verdict: 'differs',
        got: expect.stringMatching(/eviction on, .*budget \$20 a month/),
      })
    } finally {
      await cloud.close()
    }
  })

  test('200 rules of the scripts hold on a Redis behind the gateway, within two minutes, and leave nothing', async () => {
    const server = await startRedis({ force: 'server', persist: false })
    const gateway = await startGateway({ redis: server, token: 'plain' })
    try {
      const child = spawn(process.execPath, ['infra/probe.ts', '--rules'], {
        cwd: join(import.meta.dirname, '../..'),
        env: { ...process.env, UPSTASH_REDIS_REST_URL: gateway.url, UPSTASH_REDIS_REST_TOKEN: 'plain', NO_COLOR: '1' },
      })
      const began = Date.now()
      const [printed] = await Promise.all([text(child.stdout), new Promise((done) => child.once('close', done))])
      expect(child.exitCode).toBe(0)
      expect(printed).toMatch(/Tests {2}200 passed \(200\)/)
      expect(Date.now() - began).toBeLessThan(120_000)
      const plain = new Redis({ url: gateway.url, token: 'plain', retry: false })
      expect(await plain.dbsize()).toBe(0)
    } finally {
      await gateway.close()
      await server.close()
    }
  })

  test('the probe detects a different Lua', async () => {
    const server = await startRedis({ force: 'server', persist: false })
    const gateway = await startGateway({ redis: server, token: 'plain' })
    try {
      const { questions, remove } = questionsOfRedis({
        url: gateway.url,
        token: 'plain',
        namespace: 'probe:',
        silence: 300,
      })
      const lines: Line[] = []
      for (const question of questions.filter((one) => !measured.includes(one.about)))
        lines.push(await answerOf(question))
      expect(lines.filter(({ verdict }) => verdict === 'differs')).toEqual([
        expect.objectContaining({ about: expect.stringContaining('a match that finds nothing'), got: 'nil' }),
        expect.objectContaining({ about: expect.stringContaining('7,000 words unpacked'), got: 'accepted' }),
      ])
      expect(await remove()).toBe(0)
    } finally {
      await gateway.close()
      await server.close()
    }
  })
})

// The clocks of Redis and of the Worker differ, or jump. Only scripts see the changed clock of Redis, so keys still
// expire by the real time.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { defineWorker } from '../../src/index.ts'
import { type Kit, kind, startKit } from '../kit/index.ts'
import { startReceiver } from '../kit/receiver.ts'

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000]
const realNow = Date.now

const differing = test.skipIf(kind === 'embedded')

let kit: Kit
let ran: string[] = []
beforeEach(async () => {
  ran = []
  const workers = ['now', 'late', 'minutely', 'brief'].map((name) =>
    defineWorker({ class: name, queue: 'default', perform: () => void ran.push(name) }),
  )
  kit = await startKit({ hold: true, workers })
  await kit.engine.queues.update('pull', { mode: 'pull' } as never)
})
afterEach(async () => {
  vi.restoreAllMocks()
  await kit.close()
})

const workerIsAhead = (ms: number) => void vi.spyOn(Date, 'now').mockImplementation(() => realNow() + ms)

async function jump(ms: number, ahead: number): Promise<void> {
  await kit.advance(ms)
  workerIsAhead(ahead)
}

async function serve(): Promise<void> {
  await kit.engine.tick()
  while ((await kit.engine.dispatch('default', 'none')).runs > 0);
}

async function pass(ms: number): Promise<void> {
  await kit.advance(ms)
  await serve()
}

const make = async (name: string, more: object = {}) => String(await kit.make(name, more))
const status = async (id: string) => (await kit.engine.jobs.get(id)).status
const runsOf = (name: string) => ran.filter((one) => one === name).length

async function claimed() {
  const id = await make('chore', { queue: 'pull' })
  const [run] = await kit.engine.runs.claim('pull', { max: 1, lease: 45 * SECOND })
  expect(run!.job.id).toBe(Number(id))
  return { id, token: run!.run.token }
}

differing.each([
  ['ten minutes before Redis’', 10 * MINUTE],
  ['ten minutes behind Redis’', -10 * MINUTE],
])('with a Worker whose clock is %s, timers, leases, retention and slots take the right time', async (_, ahead) => {
  workerIsAhead(ahead)
  await make('now')
  const late = await make('late', { wait: 5 * MINUTE })
  const { id: leased } = await claimed()
  const brief = await make('brief', { retain: 2 * MINUTE })
  await make('minutely', { repeat: { cron: '* * * * *' } })
  await serve()
  expect([runsOf('now'), runsOf('late')]).toEqual([1, 0])
  expect([await status(leased), await status(brief)]).toEqual(['running', 'completed'])
  await pass(30 * SECOND)
  expect(await status(leased)).toBe('running')
  await pass(30 * SECOND)
  expect([await status(leased), await status(brief)]).toEqual(['queued', 'completed'])
  const before = runsOf('minutely')
  for (let minute = 1; minute <= 10; minute++) {
    await pass(MINUTE)
    expect([minute, runsOf('late')]).toEqual([minute, minute < 4 ? 0 : 1])
  }
  expect(await status(late)).toBe('completed')
  expect(await status(brief).catch(({ code }) => code)).toBe('NOT_FOUND')
  expect(runsOf('minutely') - before).toBe(10)
})

differing.each([
  ['before', 10 * MINUTE],
  ['behind', -10 * MINUTE],
])('a schedule continues within its minute if the Worker’s clock is ten minutes %s Redis’', async (_, ahead) => {
  const id = await make('minutely', { repeat: { cron: '* * * * *' } })
  await kit.engine.schedules.pause(id)
  workerIsAhead(ahead)
  const { next } = await kit.engine.schedules.resume(id)
  expect(next[0]! - realNow()).toBeGreaterThan(-SECOND)
  expect(next[0]! - realNow()).toBeLessThanOrEqual(MINUTE)
})

differing('a failing host is not called for the stated time if the Worker’s clock is ten minutes behind', async () => {
  workerIsAhead(-10 * MINUTE)
  const receiver = await startReceiver((_, response) => response.writeHead(500).end())
  await kit.engine.workers.register('default', 'called', { push: { url: `${receiver.url}/` } })
  const made: string[] = []
  for (let i = 0; i < 8; i++) made.push(await make('called', { retry: { max: 9, delay: MINUTE } }))
  await serve()
  const waits = await Promise.all(made.map(async (one) => (await kit.store.inspect(one)).document.backoffUntil))
  for (const until of waits) expect(until! - realNow()).toBeLessThan(2 * MINUTE)
  receiver.answer = (_, response) => response.end()
  await pass(5 * MINUTE)
  await pass(5 * MINUTE)
  for (const one of made) expect(await status(one)).toBe('completed')
  await receiver.close()
})

differing(
  'Redis jumps an hour forward and back: early runs happen once, and the queue continues',
  async () => {
    const late = await make('late', { wait: 30 * MINUTE })
    const { id: leased } = await claimed()
    await make('minutely', { repeat: { cron: '* * * * *' } })
    await serve()
    await jump(HOUR, -HOUR)
    await serve()
    expect([runsOf('late'), await status(late), await status(leased)]).toEqual([1, 'completed', 'queued'])
    const claim = async () => (await kit.engine.runs.claim('pull', { max: 1, lease: 45 * SECOND }))[0]
    let again = await claim()
    for (; !again; again = await claim()) await pass(MINUTE)
    expect(String(again.job.id)).toBe(leased)

    await jump(-HOUR, 0)
    await make('now')
    await serve()
    expect(runsOf('now')).toBe(1)
    // The lease began before the clock moved back, so it has not expired and the commit is accepted.
    await pass(MINUTE)
    expect(await status(leased)).toBe('running')
    await kit.engine.runs.commit(again.run.token, { end: 'completed', ops: [] } as never)
    expect(await status(leased)).toBe('completed')
    const { id: second } = await claimed()
    await pass(MINUTE)
    expect(await status(second)).toBe('queued')
    for (let minute = 0; minute < 68; minute++) await pass(MINUTE)
    expect(runsOf('late')).toBe(1)
  },
  30_000,
)

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseRepeat } from '../../src/core/repeat.ts'
import { retryDefaults } from '../../src/core/retry.ts'
import { jobInput, keyRotation, worker } from '../../src/core/schemas.ts'
import { workerDefaults } from '../../src/core/worker.ts'
import { laneDefaults } from '../../src/engine/lane/lane-options.ts'
import { createLaneTime } from '../../src/engine/lane/lane-time.ts'
import { defineWorker } from '../../src/index.ts'
import { type Kit, rawCommand, startKit } from '../kit/index.ts'

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000]

const page = readFileSync(new URL('../../docs/defaults.md', import.meta.url), 'utf8')
const rows = new Map(
  [...page.matchAll(/^\| (.+?) \| (.+?) \| .+ \|$/gm)].slice(1).map(([, name, is]) => [name!, is!] as const),
)
const said = (name: string): string => {
  const is = rows.get(name)
  rows.delete(name)
  return is ?? `docs/defaults.md has no row ${name}`
}

const noop = defineWorker({ class: 'noop', perform: () => 7 })
const ports = defineWorker({ class: 'ports', in: { left: {} }, perform: () => undefined })
const broken = defineWorker({
  class: 'broken',
  perform() {
    throw new Error('broken')
  },
})

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ workers: [noop, ports, broken], retry: {} })
})
afterAll(() => kit.close())

/** null means forever. */
async function keptFor(id: number, index: string): Promise<number | null> {
  const { endedAt } = await kit.engine.jobs.get(String(id))
  const key = `${kit.store.keys.queue('default')}:${index}`
  // The answer of Redis is the length of the score, and then the score.
  const score = (await rawCommand(kit.redis.port, 'ZSCORE', key, String(id))).split('\r\n')[1]!
  return score === 'inf' ? null : Number(score) - endedAt!
}

async function resultFor(id: number): Promise<number> {
  const left = Number((await rawCommand(kit.redis.port, 'PTTL', kit.store.keys.result(id))).slice(1))
  return Math.ceil(left / MINUTE) * MINUTE
}

test('the defaults of a job', async () => {
  expect(said('`queue`')).toBe(`\`${jobInput.parse({ class: 'noop' }).queue}\``)
  const id = await kit.make('noop')
  await kit.rest(id, 'completed')
  const view = await kit.engine.jobs.get(String(id))
  expect(said('`priority`')).toBe(String(view.priority))
  expect((await kit.engine.jobs.runs(String(id))).runs).toHaveLength(1)
  expect(said('`retain`')).toBe('1 day for completed or terminated jobs')
  expect(await keptFor(id, 'completed')).toBe(DAY)
  const kept = await kit.make('noop', { keepResult: true })
  await kit.rest(kept, 'completed')
  expect(said('`keepResult`')).toBe('1 day, but not longer than the job is kept; `true` means 1 hour')
  for (const _ of [1, 2])
    expect(await kit.engine.jobs.result(String(id), {})).toMatchObject({ result: { result: '7' } })
  expect(await resultFor(id)).toBe(DAY)
  const unkept = await kit.make('noop', { keepResult: false })
  await kit.rest(unkept, 'completed')
  expect(await kit.engine.jobs.result(String(unkept), {})).toMatchObject({ ended: true, result: null })
  expect(await resultFor(kept)).toBe(HOUR)
})

test('the defaults of failures', async () => {
  const id = await kit.make('broken')
  for (const [failed, wait] of [10, 20, 40].entries()) {
    await kit.until(async () => (await kit.engine.jobs.runs(String(id))).runs.length === failed + 1)
    expect(await kit.statusOf(id)).toBe('queued')
    await kit.advance(wait * 1.2 * SECOND)
    await kit.engine.tick()
  }
  await kit.rest(id, 'failed')
  const { runs } = await kit.engine.jobs.runs(String(id))
  expect(runs.map(({ outcome, attempt }) => [outcome, attempt])).toEqual([4, 3, 2, 1].map((n) => ['failed', n]))
  expect(said('`history`')).toBe('the last run, and the last 10 failed or lost runs')
  expect(said('`retry.max`')).toBe(String(retryDefaults.max))
  expect(said('`retry.max`, push worker not reachable')).toBe(String(retryDefaults.unreached))
  const { base, factor, cap, jitter } = retryDefaults
  expect([base, factor, cap, jitter]).toEqual([10 * SECOND, 2, HOUR, 0.2])
  expect(said('`retry.backoff`')).toBe('10 s, doubling, up to 1 h, plus up to 20%')
  expect(said('`retain`, failed')).toBe('30 days')
  expect(await keptFor(id, 'failed')).toBe(30 * DAY)
  expect(said('lost runs')).toBe('repeated until 10 are lost in a row, regardless of `retry`')
  const lua = readFileSync(new URL('../../src/redis/lua/lib/run/retry.lua', import.meta.url), 'utf8')
  expect(lua).toContain('MAX_LOST = 10\n')
  expect(said('`redeliver.max`')).toBe(String(worker.parse({ redeliver: { after: '1m' } }).redeliver!.max))
})

test('the default durations', async () => {
  expect(said('`timeout`')).toBe(`${workerDefaults.timeout / SECOND} s`)
  const { batch, budget, lease } = laneDefaults
  const { latest } = createLaneTime({ budget, elapsed: () => 0 })
  expect(said('lane, batch')).toBe(`${batch} runs`)
  expect(said('lane, duration')).toBe(
    `${budget / SECOND} s of work, ${latest / SECOND} s in total for a lane that mostly waits`,
  )
  expect(said('lane, lease')).toBe(`${lease / SECOND} s`)
  expect(keyRotation.parse({}).overlap).toBe(DAY)
  expect(said('key rotation')).toBe('the old key remains valid for 1 day')
  expect(parseRepeat({ cron: '* * * * *' }).missed).toBe('last')
  expect(parseRepeat('FINISHED, +1 DAY').missed).toBe('run')
  expect(said('`repeat.missed`')).toBe('`last` for cron, `run` for Bedrock patterns')
  await kit.engine.workers.register('pulled', 'work', { pull: true })
  for (let i = 0; i < 2; i++) await kit.make('work', { queue: 'pulled' })
  const runs = await kit.engine.runs.claim('pulled', {})
  expect(runs).toHaveLength(1)
  expect(said('claim')).toBe(`1 run with a lease of ${(runs[0]!.run.leaseUntil - runs[0]!.run.startedAt) / SECOND} s`)
  expect(said('link')).toBe('valid for 3 days, at most 30')
})

test('defaults of retention and of unique keys', async () => {
  const id = await kit.make('ports')
  await kit.rest(id, 'completed')
  expect(said('`retain`, with input ports')).toBe('30 days after the job has completed')
  expect(await keptFor(id, 'completed')).toBe(30 * DAY)
  const forever = await kit.make('ports', jobInput.parse({ class: 'ports', retain: 'forever' }))
  await kit.rest(forever, 'completed')
  expect(await keptFor(forever, 'completed')).toBe(100 * 365.25 * DAY)
  const parent = await kit.make('ports', { wait: HOUR })
  const child = await kit.make('ports', { parent: String(parent), name: 'below' })
  await kit.rest(child, 'completed')
  expect(said('`retain`, with input ports and a parent')).toBe('as long as the parent exists')
  expect(await keptFor(child, 'completed')).toBeNull()
  const unwritten = await kit.make('noop', { parent: String(parent), name: 'unwritten' })
  await kit.rest(unwritten, 'completed')
  // test/redis/rules/family.ts tests "at least until": a child is removed when its parent has seen its end.
  expect(said('`retain`, with a parent, without input ports')).toMatch(
    /^as for a job without a parent, but at least until/,
  )
  expect(await keptFor(unwritten, 'completed')).toBe(DAY)
  const listening = await kit.make('ports', { in: { left: { channels: ['news'] } } })
  await kit.rest(listening, 'completed')
  expect(said('`retain`, listening to a channel')).toBe('a completed job is kept until it is deleted')
  expect(await keptFor(listening, 'completed')).toBeNull()
  const unique = { unique: 'one' }
  const first = await kit.make('noop', { ...unique, wait: HOUR })
  expect(await kit.make('noop', unique)).toBe(first)
  await kit.engine.jobs.terminate(String(first), {})
  expect(await kit.make('noop', unique)).not.toBe(first)
  expect(said('`unique`')).toBe('held until the job has ended')
})

test('a test shows each row of the page', () => {
  expect([...rows.keys()]).toEqual([])
})

import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { defineWorker } from '../../src/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

const HOUR = 3_600_000
const runs: number[] = []
const beat = defineWorker({ class: 'beat', perform: () => void runs.push(1) })

const failing = defineWorker({
  class: 'failing',
  retry: { max: 0 },
  perform() {
    throw new Error('the printer is out of paper')
  },
})

const seen: string[] = []
const slots = defineWorker({
  class: 'slots',
  perform: (job) => void seen.push(`${job.scheduledFor?.toISOString()} ${JSON.stringify(job.args)}`),
})

let endRun: (() => void) | undefined
const held = defineWorker({
  class: 'held',
  perform: () =>
    new Promise<void>((resolve) => {
      endRun = resolve
    }),
})

const strict = defineWorker({ class: 'strict', args: z.object({ n: z.number() }), perform() {} })

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ workers: [beat, failing, held, slots, strict] })
})
afterAll(async () => {
  expect(await kit.engine.doctor.verify()).toEqual([])
  await kit.close()
})

const hourly = { repeat: { cron: '0 * * * *' } }

async function pass(id: number, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    const [slot] = (await kit.engine.schedules.get(String(id))).next
    const before = runs.length
    await kit.advance(slot! - kit.now() + 500)
    await kit.engine.tick()
    await kit.until(async () => runs.length > before && (await kit.statusOf(id)) === 'queued')
  }
}

test('every slot is run once, and the next five are shown', async () => {
  const id = await kit.make('beat', hourly)
  const { next } = await kit.engine.schedules.get(String(id))
  expect(next).toHaveLength(5)
  expect(next.every((slot, n) => slot % HOUR === 0 && (n === 0 || slot - next[n - 1]! === HOUR))).toBe(true)
  await pass(id, 24)
  expect(runs).toHaveLength(24)
  expect((await kit.engine.schedules.get(String(id))).next[0]).toBe(next[0]! + 24 * HOUR)
  await kit.engine.jobs.terminate(String(id), {})
})

test('a manual run uses no slot', async () => {
  const id = await kit.make('beat', hourly)
  const { next } = await kit.engine.schedules.get(String(id))
  const before = runs.length
  await kit.engine.jobs.run(String(id), {})
  await kit.until(async () => runs.length > before && (await kit.statusOf(id)) === 'queued')
  expect((await kit.engine.schedules.get(String(id))).next).toEqual(next)
  await kit.engine.jobs.terminate(String(id), {})
})

test('the next slot is shown beyond the requested ones, and is null during a pause', async () => {
  const id = await kit.make('beat', hourly)
  const { next } = await kit.engine.schedules.get(String(id))
  const soon = { until: kit.now() + 1 }
  expect(await kit.engine.schedules.get(String(id), soon)).toMatchObject({ next: [], nextAt: next[0] })
  await kit.engine.schedules.pause(String(id))
  expect(await kit.engine.schedules.get(String(id), soon)).toMatchObject({ next: [], nextAt: null })
  await kit.engine.schedules.resume(String(id))
  await kit.engine.jobs.terminate(String(id), {})
})

test('a paused schedule has no slots, and resumes with the next slot', async () => {
  const id = await kit.make('beat', hourly)
  expect(await kit.engine.schedules.pause(String(id))).toMatchObject({ paused: true, next: [] })
  const before = runs.length
  await kit.advance(5 * HOUR)
  await kit.engine.tick()
  const { next, paused } = await kit.engine.schedules.resume(String(id))
  expect(paused).toBe(false)
  expect(next[0]).toBeGreaterThan(kit.now())
  expect(runs.length).toBe(before)
})

async function duringRun(act: (id: string) => Promise<unknown>): Promise<number> {
  const id = await kit.make('held', { repeat: 'SCHEDULED, +1 HOUR' })
  await kit.until(() => endRun !== undefined)
  await act(String(id))
  endRun?.()
  endRun = undefined
  await kit.until(async () => (await kit.store.inspect(String(id))).document.lastRun !== undefined)
  return id
}

test('a schedule that is paused during a run stays paused after it', async () => {
  const id = await duringRun((job) => kit.engine.schedules.pause(job))
  expect(await kit.engine.schedules.get(String(id))).toMatchObject({ paused: true, next: [] })
  await kit.engine.jobs.terminate(String(id), {})
})

test('a schedule that is changed during a run follows its new pattern', async () => {
  const id = await duringRun((job) => kit.engine.schedules.update(job, { repeat: { cron: '0 0 1 1 *' } }))
  const { next } = await kit.engine.schedules.get(String(id))
  expect(new Date(next[0]!).toISOString()).toMatch(/-01-01T00:00:00.000Z$/)
  await kit.engine.jobs.terminate(String(id), {})
})

test('a schedule that is ended during a run completes with it', async () => {
  const id = await duringRun((job) => kit.engine.schedules.end(job))
  expect(await kit.statusOf(id)).toBe('completed')
})

test('a paused schedule that gets another pattern stays paused until it is resumed', async () => {
  const id = await kit.make('beat', hourly)
  await kit.engine.schedules.pause(String(id))
  const { paused, next } = await kit.engine.schedules.update(String(id), { repeat: { cron: '30 * * * *' } })
  expect({ paused, next }).toEqual({ paused: true, next: [] })
  const resumed = await kit.engine.schedules.resume(String(id))
  expect(new Date(resumed.next[0]!).getUTCMinutes()).toBe(30)
  await kit.engine.jobs.terminate(String(id), {})
})

test('schedules are listed by their next slot, until they end', async () => {
  const id = await kit.make('beat', { repeat: { cron: '0 0 1 1 *' } })
  const listed = async () => (await kit.engine.schedules.list({})).schedules.map(({ job }) => job)
  expect((await listed()).at(-1)).toBe(id)
  await kit.engine.jobs.update(String(id), { repeat: null })
  expect(await listed()).not.toContain(id)
})

const nightly = (more: object = {}) =>
  ({ queue: 'default', class: 'beat', repeat: { cron: '0 2 * * *' }, ...more }) as never

test('a schedule is created by name once, and updated without another slot', async () => {
  const made = await kit.engine.schedules.set('nightly', nightly())
  expect(made).toMatchObject({ aliases: ['nightly'], class: 'beat', failing: false, lastRun: null })
  expect(await kit.engine.schedules.set('nightly', nightly())).toEqual(made)

  const changed = await kit.engine.schedules.set('nightly', nightly({ priority: 3 }))
  expect(changed).toEqual(made)
  expect(await kit.engine.jobs.get('nightly')).toMatchObject({ id: made.job, priority: 3 })

  const moved = await kit.engine.schedules.set('nightly', nightly({ repeat: { cron: '0 3 * * *' } }))
  expect(moved.job).toBe(made.job)
  expect(moved.next[0]).not.toBe(made.next[0])
})

test('a schedule of another class takes over the name, and the old schedule stops', async () => {
  const before = await kit.engine.schedules.get('nightly')
  const after = await kit.engine.schedules.set('nightly', nightly({ class: 'failing' }))
  expect(after.job).not.toBe(before.job)
  expect(await kit.engine.jobs.get('nightly')).toMatchObject({ id: after.job, class: 'failing' })
  await expect(kit.engine.schedules.get(String(before.job))).rejects.toThrow('does not repeat')
})

test('a terminated schedule can be created again by its name, with the same or another definition', async () => {
  const stopped = await kit.engine.schedules.set('morning', nightly())
  await kit.engine.jobs.terminate(String(stopped.job), {})
  const again = await kit.engine.schedules.set('morning', nightly())
  expect(again.job).not.toBe(stopped.job)
  expect(again).toMatchObject({ status: 'queued', aliases: ['morning'] })
  expect(again.next.length).toBeGreaterThan(0)

  await kit.engine.jobs.terminate(String(again.job), {})
  const other = await kit.engine.schedules.set('morning', nightly({ priority: 3 }))
  expect(other.job).not.toBe(again.job)
  expect(other.status).toBe('queued')
  await kit.engine.jobs.terminate(String(other.job), {})
})

test('a schedule cannot take the name of a job that does not repeat', async () => {
  const id = await kit.make('beat', { alias: ['desk'] })
  await expect(kit.engine.schedules.set('desk', nightly())).rejects.toThrow(`alias desk belongs to job ${id}`)
})

test('a schedule lost its name and its repeat if its replacement was refused', async () => {
  const { job } = await kit.engine.schedules.set('invoices', { queue: 'default', class: 'beat', ...hourly })
  const refused = kit.engine.schedules.set('invoices', {
    queue: 'default',
    class: 'strict',
    args: '{"n":"one"}',
    ...hourly,
  })
  await expect(refused).rejects.toMatchObject({ code: 'REFUSED' })
  expect(await kit.engine.schedules.get('invoices')).toMatchObject({ job, class: 'beat' })
  await kit.engine.schedules.end('invoices')
})

test.each([
  ['its alias is taken', { alias: ['taken'] }, undefined, 'TAKEN'],
  ['the quota is full', {}, { by: 'key:client', quota: { jobs: 0, bytes: 1e6 } }, 'LIMITED'],
] as const)('a schedule ended if Redis refused its replacement because %s', async (_, more, call, code) => {
  const holder = await kit.make('beat', { alias: ['taken'] })
  const before = await kit.engine.schedules.set('reports', nightly())
  const refused = kit.engine.schedules.set('reports', nightly({ class: 'failing', ...more }), call)
  await expect(refused).rejects.toMatchObject({ code })
  expect(await kit.engine.schedules.get('reports')).toEqual(before)
  await kit.engine.schedules.end('reports')
  await kit.engine.jobs.setAlias(String(holder), 'taken', 'remove')
})

test('a class whose schedule is refused stopped the tick and all calls: now the schedule is reported', async () => {
  const report = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const keyless = defineWorker({
    class: 'keyless',
    args: z.any(),
    limits: [{ key: (args) => args.customer.id, concurrency: 1 }],
    cron: { expression: '0 3 * * *' },
    perform() {},
  })
  const other = await startKit({ workers: [beat, keyless] })
  try {
    const id = await other.make('beat', hourly)
    await other.engine.tick()
    await other.engine.jobs.remove(String(id), { force: true })
    expect(report).toHaveBeenCalledWith(
      expect.stringMatching(/^sidejob: class keyless of queue default has no schedule: args: class keyless could not/),
    )
  } finally {
    report.mockRestore()
    await other.close()
  }
})

test('failing schedules are listed separately, with their error', async () => {
  const { job } = await kit.engine.schedules.get('nightly')
  expect((await kit.engine.schedules.list({ failing: true })).schedules).toEqual([])
  await kit.engine.jobs.run(String(job), {})
  await kit.until(async () => (await kit.engine.schedules.get(String(job))).failing)
  const { schedules } = await kit.engine.schedules.list({ failing: true })
  expect(schedules).toMatchObject([{ job, failing: true, lastRun: { outcome: 'failed' } }])
  expect(schedules[0]!.error).toContain('the printer is out of paper')
  expect(schedules[0]).not.toHaveProperty('failedInARow')
})

test('schedules that failed twice in a row are listed separately, with the count', async () => {
  const { job } = await kit.engine.schedules.get('nightly')
  const twice = async () => (await kit.engine.schedules.list({ failing: true, inARow: 2 })).schedules
  expect(await twice()).toEqual([])
  await kit.engine.jobs.run(String(job), {})
  await kit.until(async () => (await twice()).length > 0)
  expect(await twice()).toMatchObject([{ job, failing: true, failedInARow: 2 }])
})

test('an ended schedule does not run again', async () => {
  const id = await kit.make('beat', { repeat: { cron: '0 0 1 1 *' } })
  const before = runs.length
  await kit.engine.schedules.end(String(id))
  await kit.rest(await kit.make('beat'), 'completed')
  expect(runs.length).toBe(before + 1)
  expect(await kit.statusOf(id)).toBe('completed')
})

test('ending a schedule frees its name', async () => {
  await kit.engine.schedules.end('nightly')
  await expect(kit.engine.jobs.get('nightly')).rejects.toThrow()
  const made = await kit.engine.schedules.set('nightly', nightly())
  expect(made).toMatchObject({ aliases: ['nightly'], failing: false })
})

test('a backfill creates a job for each slot of a period, and each job has its slot', async () => {
  const id = await kit.make('slots', { repeat: { cron: '0 2 * * *', tz: 'Europe/Berlin' }, args: '{"a":1}' })
  const from = Date.UTC(2026, 2, 27, 12)
  const { jobs, next } = await kit.engine.schedules.backfill(String(id), { from, to: from + 3 * 24 * HOUR })
  const slots = ['2026-03-28T01:00:00.000Z', '2026-03-29T01:00:00.000Z', '2026-03-30T00:00:00.000Z']
  expect(jobs.map(({ scheduledFor }) => new Date(scheduledFor).toISOString())).toEqual(slots)
  expect(next).toBeNull()
  for (const { id: made } of jobs) await kit.rest(made, 'completed')
  expect(seen.toSorted()).toEqual(slots.map((slot) => `${slot} {"a":1}`))
  await expect(
    kit.engine.schedules.backfill(String(await kit.make('beat', { repeat: 'DAILY' })), { from, to: from + 1 }),
  ).rejects.toThrow('expected a schedule with a cron pattern')
})

test('a backfill of more slots than the maximum returns the start of the next call', async () => {
  const id = await kit.make('beat', { repeat: { cron: '* * * * *' } })
  const { jobs, next } = await kit.engine.schedules.backfill(String(id), { from: 0, to: 24 * HOUR })
  expect(jobs).toHaveLength(1_000)
  expect(next).toBe(1_000 * 60_000)
  await kit.engine.jobs.terminate(String(id), {})
})

test('slots missed in a pause are reported when it ends', async () => {
  const id = await kit.make('beat', hourly)
  const [first] = (await kit.engine.schedules.get(String(id))).next
  await kit.engine.schedules.pause(String(id))
  await kit.engine.schedules.pause(String(id))
  await kit.advance(first! - kit.now() + 2.5 * HOUR)
  const { missed, next } = await kit.engine.schedules.resume(String(id))
  expect(missed).toEqual({ from: first, to: first! + 2 * HOUR, made: 'none', count: 3, more: false })
  expect(next[0]).toBe(first! + 3 * HOUR)
  await kit.engine.jobs.terminate(String(id), {})
})

test.each([
  ['last', 'one'],
  ['run', 'each'],
] as const)('slots missed with missed: %s are reported, with the runs that replace them', async (missed, made) => {
  const id = await kit.make('beat', { repeat: { cron: '0 * * * *', missed } })
  const [first] = (await kit.engine.schedules.get(String(id))).next
  await kit.engine.queues.update('default', { paused: true })
  await kit.advance(first! - kit.now() + 3.5 * HOUR)
  await kit.engine.queues.update('default', { paused: false })
  await kit.engine.tick()
  await kit.until(async () => (await kit.engine.schedules.get(String(id))).next[0]! > kit.now())
  const seen = await kit.engine.schedules.get(String(id))
  expect(seen).toMatchObject({ missed: { from: first, to: first! + 3 * HOUR, made, count: 4 }, catchingUp: false })
  await kit.engine.jobs.terminate(String(id), {})
})

test('slots are listed up to a given time, including a slot moved by a clock change', async () => {
  const id = await kit.make('beat', { repeat: { cron: '30 2 * * *', tz: 'Europe/Berlin' } })
  const until = kit.now() + 30 * 24 * HOUR
  const { next, moved } = await kit.engine.schedules.get(String(id), { until })
  expect(next.length).toBeGreaterThanOrEqual(29)
  expect(next.at(-1)).toBeLessThanOrEqual(until)
  const [listed] = (await kit.engine.schedules.list({ until })).schedules.filter(({ job }) => job === id)
  expect(listed!.next).toEqual(next)
  expect(moved!.wall).toMatch(/^\d{4}-03-\d\d 02:30$/)
  expect(new Date(moved!.at).toISOString()).toMatch(/-03-\d\dT01:00:00.000Z$/)
  await kit.engine.jobs.terminate(String(id), {})
})

test('a schedule failed after ten lost runs of one slot: now it continues with its next slot', async () => {
  const queue = 'lossy'
  await kit.engine.workers.register(queue, 'vanishes', { pull: true })
  const id = await kit.make('vanishes', { queue, ...hourly })
  const [first, second] = (await kit.engine.schedules.get(String(id))).next
  await kit.advance(first! - kit.now() + 500)
  for (let n = 0; n < 10; n++) {
    expect(await kit.engine.runs.claim(queue, { lease: 5_000 })).toHaveLength(1)
    await kit.advance(5_100)
    await kit.engine.tick()
    await kit.advance(1_000 * 2 ** n)
  }
  expect(await kit.engine.runs.claim(queue, {})).toEqual([])
  expect(await kit.engine.schedules.get(String(id))).toMatchObject({ nextAt: second, missed: null })
  const error = JSON.stringify({ message: 'lost 10 times: the run never answered', reason: 'other' })
  expect(await kit.engine.jobs.get(String(id))).toMatchObject({ status: 'queued', lost: 10, error })
  const { schedules } = await kit.engine.schedules.list({ failing: true })
  expect(schedules.map(({ job }) => job)).toContain(id)
  await kit.advance(second! - kit.now() + 500)
  const [run] = await kit.engine.runs.claim(queue, {})
  expect(run!.run.scheduledFor).toBe(second)
  await kit.engine.runs.commit(run!.run.token, { end: 'completed' })
  expect(await kit.engine.jobs.get(String(id))).toMatchObject({ status: 'queued', error: null })
  await kit.engine.jobs.terminate(String(id), {})
})

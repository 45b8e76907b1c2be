import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Repeat } from '../../src/core/repeat.ts'
import { defineWorker } from '../../src/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

const HOUR = 3_600_000
const hourly: Repeat = { cron: '0 * * * *' }

const runs = new Map<number, (number | null)[]>()
const timesRun = (id: number): number => runs.get(id)?.length ?? 0
const note = ({ id, scheduledFor }: { id: number; scheduledFor: Date | null }) =>
  void runs.set(id, [...(runs.get(id) ?? []), scheduledFor?.getTime() ?? null])

const waiting: (() => void)[] = []
const wait = () => new Promise<void>((resolve) => void waiting.push(resolve))
const endRuns = () => waiting.splice(0).map((end) => end())

const plain = defineWorker({ class: 'plain', perform: note })
const stays = defineWorker({
  class: 'stays',
  perform(job) {
    note(job)
    return job.suspend()
  },
})
const fails = defineWorker({
  class: 'fails',
  retry: { max: 0 },
  perform(job) {
    note(job)
    if (timesRun(job.id) === 1) throw new Error('the printer is out of paper')
  },
})
const tidies = defineWorker({ class: 'tidies', perform: note, shutdown: wait })
const slow = defineWorker({
  class: 'slow',
  perform(job) {
    note(job)
    return timesRun(job.id) === 1 ? wait() : undefined
  },
})

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ workers: [plain, stays, fails, tidies, slow] })
})
afterAll(async () => {
  expect(await kit.engine.doctor.verify()).toEqual([])
  await kit.close()
})

async function expectSlot(id: number): Promise<void> {
  const { nextAt } = await kit.engine.schedules.get(String(id))
  const before = timesRun(id)
  await kit.advance(nextAt! - kit.now() + 500)
  await kit.engine.tick()
  await kit.until(() => timesRun(id) > before)
  expect(runs.get(id)!.at(-1)).toBe(nextAt)
}

const ended = async (className: string, status: string): Promise<number> => {
  const id = await kit.make(className)
  await kit.rest(id, status)
  return id
}

const jobs: Record<string, () => Promise<number>> = {
  'waits for a time': () => kit.make('plain', { at: kit.now() + 90 * 60_000 }),
  async runs() {
    const id = await kit.make('slow')
    await kit.until(() => waiting.length > 0)
    return id
  },
  'is suspended': () => ended('stays', 'suspended'),
  'is completed': () => ended('plain', 'completed'),
}

const routes: Record<string, (job: string) => Promise<unknown>> = {
  'a change of the job': (job) => kit.engine.jobs.update(job, { repeat: hourly }),
  'a change by name': async (job) => {
    await kit.engine.jobs.update(job, { repeat: { cron: '0 0 1 1 *' } })
    const { class: name } = await kit.engine.jobs.get(job)
    await kit.engine.schedules.set(`name ${job}`, { queue: 'default', class: name, repeat: hourly } as never)
  },
  'a pause and its end': async (job) => {
    await kit.engine.jobs.update(job, { repeat: hourly })
    await kit.engine.schedules.pause(job)
    await kit.engine.schedules.resume(job)
  },
}

describe.each(Object.keys(jobs))('a job that %s gets a schedule', (state) => {
  test.each(Object.keys(routes))('by %s, and runs at its slots', async (route) => {
    const id = await jobs[state]!()
    await kit.engine.jobs.setAlias(String(id), `name ${id}`, 'add')
    await routes[route]!(String(id))
    endRuns()
    await kit.until(async () => (await kit.statusOf(id)) === 'queued')
    await expectSlot(id)
    await kit.engine.jobs.terminate(String(id), {})
  })
})

test.each(['plain', 'stays'])('a time set on an idle job of class %s is the time of its next run', async (name) => {
  const id = await kit.make(name)
  await kit.rest(id)
  await kit.engine.jobs.update(String(id), { runAt: kit.now() + HOUR })
  expect(await kit.statusOf(id)).toBe('queued')
  await kit.advance(HOUR + 500)
  await kit.engine.tick()
  await kit.until(() => timesRun(id) === 2)
})

const changesOfSchedule: Record<string, (job: string) => Promise<unknown>> = {
  paused: (job) => kit.engine.schedules.pause(job),
  async resumed(job) {
    await kit.engine.schedules.pause(job)
    await kit.engine.schedules.resume(job)
  },
  'resumed and paused after a slot': async (job) => {
    await kit.engine.schedules.pause(job)
    await kit.advance(2 * HOUR)
    await kit.engine.schedules.resume(job)
    await kit.engine.schedules.pause(job)
  },
  changed: (job) => kit.engine.jobs.update(job, { repeat: { cron: '30 * * * *' } }),
}
let queues = 0

async function woken(side: string, options: object = { repeat: hourly }): Promise<{ queue: string; job: string }> {
  const queue = `woken${queues++}`
  await kit.engine.queues.update(queue, side === 'pull' ? { mode: 'pull' } : { paused: true })
  await kit.engine.workers.register(queue, 'plain', { in: { in: {} }, pull: side === 'pull' })
  const job = String(await kit.make('plain', { queue, ...options }))
  await kit.engine.ports.write(job, 'in', 'in', ['1' as never])
  return { queue, job }
}

const codesOf = async (job: string) => (await kit.engine.jobs.why(job)).reasons.map(({ code }) => code)
const ready = { push: 'PAUSED', pull: 'PULL' } as const

describe.each(['push', 'pull'] as const)('input for a schedule in a %s queue', (side) => {
  test.each(Object.keys(changesOfSchedule))('does not wait for the slot if the schedule is %s', async (name) => {
    const { job } = await woken(side)
    expect(await codesOf(job)).toContain(ready[side])
    await changesOfSchedule[name]!(job)
    expect(await codesOf(job)).toContain(ready[side])
    await kit.engine.jobs.terminate(job, {})
  })

  test('waits for a new time of the job', async () => {
    const { job } = await woken(side, { at: kit.now() + HOUR })
    await kit.engine.jobs.update(job, { runAt: kit.now() + 2 * HOUR })
    expect(await codesOf(job)).toEqual(['DUE'])
    await kit.engine.jobs.terminate(job, {})
  })
})

test('a job with input in a pull queue keeps its turn when its schedule is paused', async () => {
  const { queue, job } = await woken('pull')
  await kit.make('plain', { queue })
  await kit.engine.schedules.pause(job)
  const [run] = await kit.engine.runs.claim(queue, {})
  expect(run!.job.id).toBe(Number(job))
  await kit.engine.runs.commit(run!.run.token, { end: 'completed' })
})

test('a completed delivery stays completed when its repeat or its time changes', async () => {
  const id = await ended('plain', 'completed')
  await kit.engine.deliveries.update(String(id), { repeat: hourly, dueAt: kit.now() + HOUR })
  expect(await kit.statusOf(id)).toBe('completed')
})

test('a failed job that gets a schedule follows it once it is retried', async () => {
  const id = await ended('fails', 'failed')
  await kit.engine.jobs.update(String(id), { repeat: hourly })
  expect(await kit.statusOf(id)).toBe('failed')
  await kit.engine.jobs.retry(String(id))
  await kit.until(async () => timesRun(id) === 2 && (await kit.statusOf(id)) === 'queued')
  await expectSlot(id)
  await kit.engine.jobs.terminate(String(id), {})
})

test('a schedule that failed because its deliveries were not answered continues once it is retried', async () => {
  const lent = { queue: 'pull', class: 'lent' }
  await kit.engine.queues.update('pull', { mode: 'pull' })
  const { jobs } = await kit.engine.jobs.enqueue([
    { ...lent, repeat: hourly, redeliver: { after: 60_000, max: 1 } } as never,
  ])
  const id = jobs[0]!.id
  const { nextAt } = await kit.engine.schedules.get(String(id))
  await kit.advance(nextAt! - kit.now() + 500)
  await kit.engine.tick()
  expect(await kit.engine.runs.claim('pull', {})).toHaveLength(1)
  await kit.advance(61_000)
  expect(await kit.engine.runs.claim('pull', {})).toHaveLength(0)
  expect(await kit.statusOf(id)).toBe('failed')
  await kit.engine.jobs.retry(String(id))
  const [run] = await kit.engine.runs.claim('pull', {})
  await kit.engine.runs.commit(run!.run.token, { end: 'completed' })
  expect(await kit.engine.schedules.get(String(id))).toMatchObject({ status: 'queued', nextAt: nextAt! + HOUR })
  await kit.engine.jobs.terminate(String(id), {})
})

test.each(['plain', 'tidies'])(
  'a terminated schedule of class %s that is run again with force continues',
  async (name) => {
    const id = await kit.make(name, { repeat: hourly })
    await kit.engine.jobs.terminate(String(id), {})
    if (name === 'tidies') await kit.until(() => waiting.length > 0)
    endRuns()
    await kit.rest(id, 'terminated')
    await kit.engine.jobs.run(String(id), { force: true })
    await kit.until(async () => timesRun(id) === 1 && (await kit.statusOf(id)) === 'queued')
    await expectSlot(id)
    await kit.engine.jobs.terminate(String(id), {})
    await kit.until(() => waiting.length > 0 || name === 'plain')
    endRuns()
  },
)

test('the last run of a terminated schedule uses no slot, even if one is due', async () => {
  const id = await kit.make('tidies', { repeat: hourly })
  const { nextAt } = await kit.engine.schedules.get(String(id))
  await kit.engine.jobs.terminate(String(id), {})
  await kit.until(() => waiting.length > 0)
  await kit.advance(nextAt! - kit.now() + 500)
  // The lease has expired, so another lane may repeat the run.
  await kit.until(async () => {
    endRuns()
    return (await kit.statusOf(id)) === 'terminated'
  })
  await kit.engine.jobs.run(String(id), { force: true })
  await kit.until(async () => timesRun(id) === 1 && (await kit.statusOf(id)) === 'queued')
  expect(runs.get(id)).toEqual([nextAt])
  await kit.engine.jobs.terminate(String(id), {})
  await kit.until(() => waiting.length > 0)
  endRuns()
})

import { afterEach, beforeEach, expect, test } from 'vitest'
import { encodeValue } from '../../src/core/codec/value.ts'
import { defineWorker } from '../../src/index.ts'
import { createZone } from '../heavy/soak/slots.ts'
import { type Kit, startKit } from '../kit/index.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const ran: (number | null)[] = []
const beat = defineWorker({ class: 'beat', perform: (job) => void ran.push(job.scheduledFor?.getTime() ?? null) })

const anyone = { id: 0, queue: 'default', priority: 0, ahead: 0, since: '' }

// Each test has its own stack, because the jobs of an interrupted test continue to run.
let kit: Kit
beforeEach(async () => {
  kit = await startKit({ workers: [beat], hold: true })
})
afterEach(() => kit.close())

async function settleDown({ engine, advance } = kit): Promise<void> {
  for (let quiet = 0; quiet < 10; ) {
    const performed = await engine.performOne(anyone)
    if (!performed) await advance(100)
    quiet = performed ? 0 : quiet + 1
  }
}

test('a schedule for each minute continues after an outage of more than ten hours', async () => {
  await kit.advance(MINUTE - (kit.now() % MINUTE))
  const id = await kit.make('beat', { repeat: 'SCHEDULED, +1 MINUTE' })
  await settleDown()
  ran.length = 0
  await kit.advance(11 * HOUR)
  await settleDown()
  expect(await kit.statusOf(id)).toBe('queued')
  expect(ran.length).toBeGreaterThanOrEqual(660)
  expect((await kit.engine.schedules.get(String(id))).next[0]).toBeGreaterThan(kit.now())
  await kit.engine.jobs.remove(String(id), { force: true })
}, 60_000)

const every =
  (length: number) =>
  (from: number, to: number): number[] =>
    Array.from(
      { length: Math.floor(to / length) - Math.floor(from / length) },
      (_, n) => (Math.floor(from / length) + n + 1) * length,
    )

/** 02:30 in Berlin is skipped on one day of the year, and comes twice on another day. */
const nightly = (from: number, to: number): number[] =>
  createZone(
    'Europe/Berlin',
    from - DAY,
    to + DAY,
  )((wall) => wall.getUTCHours() === 2 && wall.getUTCMinutes() === 30, {
    hourly: false,
  }).filter((slot) => slot > from && slot <= to)

const outages = [
  ['a minute', MINUTE, { cron: '* * * * *' }, every(MINUTE)],
  ['an hour', HOUR, { cron: '* * * * *' }, every(MINUTE)],
  ['a day', DAY, { cron: '0 * * * *' }, every(HOUR)],
  ['a year', 365 * DAY, { cron: '30 2 * * *', tz: 'Europe/Berlin' }, nightly],
] as const

const policies = {
  run: (slots: number[]) => slots,
  last: (slots: number[]) => slots.slice(-1),
  skip: (slots: number[]) => slots.slice(-1).filter((slot) => kit.now() - slot <= 5 * MINUTE),
}

test.each(
  outages.flatMap(([name, length, repeat, slots]) =>
    (['run', 'last', 'skip'] as const).map((missed) => ({ name, length, repeat, slots, missed })),
  ),
)(
  'after an outage of $name, $repeat.cron runs the slots of missed: $missed',
  { timeout: 60_000 },
  async ({ length, repeat, slots, missed }) => {
    const id = await kit.make('beat', { repeat: { ...repeat, missed } })
    const [first] = (await kit.engine.schedules.get(String(id))).next
    await kit.advance(first! - kit.now() + 1)
    ran.length = 0
    await settleDown()
    expect(ran).toEqual([first])

    const end = first! + length + (length > HOUR ? 20 * MINUTE : 20_000)
    await kit.advance(end - kit.now())
    const due = slots(first!, kit.now())
    const wanted = policies[missed](due)
    ran.length = 0
    await settleDown()
    expect(ran).toEqual(wanted)
    expect((await kit.engine.schedules.get(String(id))).next[0]).toBe(slots(due.at(-1)!, due.at(-1)! + 3 * DAY)[0])
    expect(await kit.engine.jobs.get(String(id))).toMatchObject({ status: 'queued', lost: 0, error: null })
    await kit.engine.jobs.remove(String(id), { force: true })
  },
)

test('a missed slot is skipped, but input from that time is not', async () => {
  const id = await kit.make('beat', { repeat: { cron: '0 * * * *', missed: 'skip' }, in: { in: {} } })
  const [first] = (await kit.engine.schedules.get(String(id))).next
  await kit.advance(first! + 10 * MINUTE - kit.now())
  await kit.engine.tick()
  expect((await kit.engine.ready()).map((job) => job.id)).toEqual([id])
  await kit.engine.ports.write(String(id), 'in', 'in', [encodeValue(1)])
  ran.length = 0
  await settleDown()
  expect(ran).toHaveLength(1)
  await kit.engine.jobs.remove(String(id), { force: true })
})

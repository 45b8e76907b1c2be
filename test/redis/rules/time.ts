// Rules 19–22: jobs that wait for a time, the index of their times, clocks, and schedules.

import { expect } from 'vitest'
import { encodeValue } from '../../../src/core/codec/value.ts'
import { defineWorker } from '../../../src/index.ts'
import { ops } from '../../../src/redis/ops.ts'
import { type Facts, queuesOf, type World } from '../direct.ts'

const HOUR = 3_600_000
const retry = { max: 3, backoff: { base: 10_000, jitter: 0 } }
const wakeOf = (world: World, queue = 'q') =>
  world.client.ask((redis) => redis.zscore(world.store.keys.wake, `q:${queue}`)).then((score) => score && Number(score))

const rule19: Facts = {
  async 'a claim makes due jobs ready first'(world) {
    const id = await world.make({ wait: 5_000 })
    expect(await world.claim()).toEqual([])
    world.advance(5_001)
    expect((await world.claimOne()).id).toBe(id)
  },
  async 'a claim reports the next due time'(world) {
    await world.make({ wait: 90_000 })
    await world.make({ wait: 5_000 })
    const { nextDue } = await world.lane().ask()
    expect(nextDue! - world.now()).toBeGreaterThan(4_000)
    expect(nextDue! - world.now()).toBeLessThanOrEqual(5_000)
    world.advance(5_001)
    const later = await world.lane().ask()
    expect(later.nextDue! - world.now()).toBeGreaterThan(80_000)
  },
  async 'a claim does not use timers of another queue'(world) {
    await world.make({ wait: 5_000, queue: 'other' })
    expect(await world.lane().ask()).not.toHaveProperty('nextDue')
    world.advance(5_001)
    expect(await world.claim()).toEqual([])
    expect(await world.claim({ queue: 'other' })).toHaveLength(1)
  },
  async 'a timer of the next minute has a bell at its time'(world) {
    const at = world.now() + 30_000
    const { rings } = await world.store.enqueue([{ queue: 'q', class: 'plain', known: true, at }])
    expect(rings).toMatchObject([{ queue: 'q', at }])
    const earlier = at - 10_000
    const more = await world.store.enqueue([{ queue: 'q', class: 'plain', known: true, at: earlier }])
    expect(more.rings).toMatchObject([{ at: earlier }])
    const covered = await world.store.enqueue([{ queue: 'q', class: 'plain', known: true, at: at + 1_000 }])
    expect(covered.rings).toEqual([])
  },
  async 'the tick rings for a later timer in the minute before'(world) {
    const at = world.now() + 300_000
    const { rings } = await world.store.enqueue([{ queue: 'q', class: 'plain', known: true, at }])
    expect(rings).toEqual([])
    expect(await world.tick()).toEqual([])
    world.advance(241_000)
    expect(await world.tick()).toMatchObject([{ queue: 'q', at }])
  },
  async 'a slot that becomes free within the minute has a bell at its time, if no lane serves the queue'(world) {
    const limits = [{ key: 'rated', how: 'set' as const, rate: { limit: 1, period: 30_000 } }]
    const make = () => world.store.enqueue([{ queue: 'q', class: 'plain', known: true, limits }])
    await make()
    await (await world.claimOne()).commit()
    world.advance(21_000)
    const { rings } = await make()
    expect(rings).toMatchObject([{ queue: 'q', at: expect.any(Number) }])
    const wait = rings[0]!.at! - world.now()
    expect(wait).toBeGreaterThan(8_000)
    expect(wait).toBeLessThan(11_000)
    world.advance(wait)
    await (await world.claimOne()).commit()
  },
  async 'no bell rings for a slot that a lane waits for'(world) {
    const limits = [{ key: 'rated', how: 'set' as const, rate: { limit: 1, period: 1_500 } }]
    const make = () => world.store.enqueue([{ queue: 'q', class: 'plain', known: true, limits }])
    const { rings } = await make()
    const lane = world.lane()
    const { runs } = await lane.ask({ bell: rings[0]!.bell })
    expect((await make()).rings).toEqual([])
    const waiting = await lane.ask({ waits: 2_000, runs: [await runs[0]!.settled({ end: 'completed' })] })
    expect(waiting).toMatchObject({ word: 'empty', rings: [], nextDue: expect.any(Number) })
    const leaving = await lane.ask()
    expect(leaving.rings).toMatchObject([{ queue: 'q', at: waiting.nextDue }])
  },
  async 'the tick finds a timer whose bell was lost'(world) {
    await world.make({ wait: 5_000 })
    world.advance(26_000)
    expect(queuesOf(await world.tick())).toEqual(['q'])
    expect(await world.claim()).toHaveLength(1)
  },
  async 'an idle dispatcher waits for jobs that are due soon'(world) {
    let ran = 0
    const soon = defineWorker({ class: 'soon', queue: 'e', perform: () => void ran++ })
    await world.make({ queue: 'e', class: 'soon', wait: 150 })
    expect(await world.engine({ workers: [soon] }).dispatch('e', 'bell')).toMatchObject({ runs: 1, ended: 'empty' })
    expect(ran).toBe(1)
  },
  async 'an idle dispatcher leaves later jobs to a bell'(world) {
    await world.make({ queue: 'e', class: 'plain', wait: 10_000 })
    const begun = Date.now()
    expect(await world.engine().dispatch('e', 'bell')).toMatchObject({ runs: 0, ended: 'empty' })
    expect(Date.now() - begun).toBeLessThan(2_000)
    expect((await world.queueOf('e')).lanes).toBe(0)
  },
  async 'a commit that finds a due timer keeps the timer that it sets'(world) {
    await world.make({ wait: 10_000 })
    await world.make()
    const run = await world.claimOne()
    world.advance(10_001)
    const failed = await run.settled({ end: 'failed', error: { message: 'x' } }, { ...retry, max: 1 })
    const answer = await world.store.commit({ queue: 'q', runs: [failed], claim: { max: 1, lease: 45_000 } })
    expect(answer.claimed).toHaveLength(1)
    expect(answer.nextDue! - world.now()).toBeGreaterThan(9_000)
  },
  async 'a thousand timers that are due at once all become ready'(world) {
    const job = { queue: 'q', class: 'plain', known: true, wait: 1_000 }
    await world.store.enqueue(Array.from({ length: 1_100 }, () => job))
    world.advance(1_001)
    await world.claim({ max: 1 })
    await world.claim({ max: 1 })
    expect(await world.queueOf()).toMatchObject({ ready: 1_098, timers: 0 })
  },
}

const rule20: Facts = {
  async 'the tick alone finds an expired lease'(world) {
    const id = await world.make()
    await world.claim()
    world.advance(45_001)
    await world.tick()
    expect(await world.status(id)).toBe('queued')
  },
  async 'the shortest lease sets the time of the next check'(world) {
    const [a, b] = [await world.make(), await world.make()]
    await world.claim({ max: 1, lease: 600_000 })
    await world.claim({ max: 1, lease: 1_000 })
    world.advance(1_001)
    await world.claim({ max: 0 })
    await world.tick()
    expect([await world.status(a), await world.status(b)].sort()).toEqual(['queued', 'running'])
    world.advance(600_000)
    await world.tick()
    expect([await world.status(a), await world.status(b)]).toEqual(['queued', 'queued'])
  },
  async 'the earliest timer sets the time of the next check'(world) {
    const late = await world.make({ wait: 500_000, aliases: ['late'] })
    const soon = await world.make({ wait: 90_000, aliases: ['soon'] })
    world.advance(91_000)
    await world.tick()
    expect([await world.status(late), await world.status(soon)]).toEqual(['queued', 'queued'])
    expect(await world.queueOf()).toMatchObject({ ready: 1, timers: 1 })
  },
  async 'the end of a dead lane is a due time: a bell rings for its jobs'(world) {
    await world.store.settings('q', { lanes: 1, batch: 1 })
    const { rings } = await world.store.enqueue(Array(2).fill({ queue: 'q', class: 'plain', known: true }))
    await world.lane().ask({ bell: rings[0]!.bell })
    world.advance(30_000)
    expect(await world.tick()).toEqual([])
    world.advance(15_001)
    const now = (await world.tick()).filter(({ at }) => at === undefined)
    expect(queuesOf(now)).toEqual(['q'])
  },
  async 'the tick does not check a queue before its next time'(world) {
    await world.make({ wait: 600_000 })
    expect(await wakeOf(world)).toBeGreaterThan(world.now() + 500_000)
    expect(await world.tick()).toEqual([])
    expect(await wakeOf(world)).toBeGreaterThan(world.now() + 500_000)
  },
  async 'a queue without future events is in no index'(world) {
    await world.make({ in: { in: {} } })
    await (await world.claimOne()).suspend()
    world.advance(60_000)
    await world.tick()
    expect(await wakeOf(world)).toBeNull()
  },
  async 'one tick checks at most its maximum of queues, and reports further queues'(world) {
    await world.make()
    await world.make({ queue: 'other' })
    world.advance(21_000)
    const first = await world.store.tick(1)
    expect(first.more).toBe(true)
    const second = await world.store.tick(1)
    expect(queuesOf([...first.rings, ...second.rings])).toEqual(['other', 'q'])
  },
  async 'a timer set for another queue is kept while that queue has due timers'(world) {
    await world.make()
    await (await world.claimOne()).commit()
    const parent = await world.make({ queue: 'other' })
    const run = await world.claimOne({ queue: 'other' })
    await run.suspend({ ops: [{ op: 'spawn', name: 'a', queue: 'q', class: 'child' }] })
    await world.make({ queue: 'other', wait: 40_000 })
    await world.change(parent, 'lock', 200_000, 'token')
    const child = await world.claimOne()
    await world.change(child.id, 'terminate', '', '')
    world.advance(100_000)
    await world.tick()
    expect(await world.queueOf('other')).toMatchObject({ timers: 1, ready: 1 })
    world.advance(100_001)
    expect(await world.claim({ queue: 'other' })).toHaveLength(2)
  },
}

const rule21: Facts = {
  async 'Redis with older data after a failover issues no token twice'(world) {
    const id = await world.make()
    const before = await world.document(id)
    const first = await world.claimOne()
    await world.restore(id, before)
    await world.client.ask((redis) =>
      redis
        .multi()
        .zrem(`${world.store.keys.queue('q')}:leases`, String(id))
        .zadd(`${world.store.keys.queue('q')}:ready`, { score: 0, member: `${before.sequence}:${id}` })
        .exec(),
    )
    await world.recount()
    const second = await world.claimOne()
    expect(second.token.split('.').slice(0, 2)).toEqual(first.token.split('.').slice(0, 2))
    expect(second.token).not.toBe(first.token)
    expect(await first.commit()).toBe('lost')
  },
  async 'the runs of one claim have different tokens'(world) {
    await world.store.enqueue(Array(3).fill({ queue: 'q', class: 'plain', known: true }))
    const nonces = (await world.claim()).map(({ token }) => token.split('.')[2])
    expect(new Set(nonces).size).toBe(3)
  },
  async 'a clock that goes back loses no job'(world) {
    await world.make()
    const run = await world.claimOne()
    world.advance(-100_000)
    const id = await world.make()
    expect((await world.claimOne()).id).toBe(id)
    expect(await run.commit()).toBe('completed')
    expect(await world.make()).toBeGreaterThan(id)
    expect(await world.claim()).toHaveLength(1)
  },
  async 'data that a job or a queue needs does not expire'(world) {
    const id = await world.make({
      in: { in: {} },
      inputs: { in: ['=1'] },
      aliases: ['x'],
      unique: { key: 'u' },
      args: encodeValue('a'.repeat(600)) as never,
    })
    const lane = world.lane()
    const [run] = (await lane.ask()).runs
    await run!.commit({
      end: 'checkpoint',
      n: 0,
      ops: [
        { op: 'spawn', name: 'a', queue: 'q', class: 'child' },
        { op: 'step', name: 's', value: encodeValue(1) },
      ],
    })
    await world.change(id, 'lock', 1_000, 'token').catch(() => undefined)
    const keys = await world.client.ask((redis) => redis.keys(`${world.namespace}*`))
    const expiring: string[] = []
    for (const key of keys) if ((await world.client.ask((redis) => redis.pttl(key))) !== -1) expiring.push(key)
    expect(keys.length).toBeGreaterThan(8)
    expect(expiring).toEqual([])
  },
}

const hourly = (world: World, more: object = {}, repeat: unknown = 'SCHEDULED, +1 HOUR') => {
  const slot = Math.ceil(world.now() / 1000) * 1000 + 1000
  return world.make({ repeat: encodeValue(repeat), slot, ...more }).then((id) => ({ id, slot }))
}
const slotOf = async (world: World, id: number) => (await world.document(id)).nextSlot!

const rule22: Facts = {
  async 'the next slot follows from the slot, however late the run was'(world) {
    const { id, slot } = await hourly(world)
    world.advance(600_000)
    expect(await (await world.claimOne()).commit()).toBe('queued')
    expect(await slotOf(world, id)).toBe(slot + HOUR)
    expect(await world.claim()).toEqual([])
    world.advance(HOUR)
    expect(await world.claim()).toHaveLength(1)
  },
  async 'slots missed before a late run are reported'(world) {
    const { id, slot } = await hourly(world, {}, { bedrock: 'SCHEDULED, +1 HOUR', missed: 'last' })
    world.advance(3_000)
    await (await world.claimOne()).commit()
    expect((await world.document(id)).passedSlots).toBeUndefined()
    world.advance(4.5 * HOUR)
    await (await world.claimOne()).commit()
    expect((await world.document(id)).passedSlots).toBe(`${slot + HOUR},${slot + 4 * HOUR},one`)
  },
  async 'a requested run takes no slot'(world) {
    const { id, slot } = await hourly(world)
    for (const force of ['', '1']) {
      await world.change(id, 'run', '', force, '', '', '')
      expect(await (await world.claimOne()).commit()).toBe('queued')
      expect(await slotOf(world, id)).toBe(slot)
    }
    world.advance(3_000)
    expect(await world.claim()).toHaveLength(1)
  },
  async 'a run for input takes no slot'(world) {
    const { id, slot } = await hourly(world, { in: { in: {} } })
    await world.push(id, 'in', '1')
    expect(await (await world.claimOne()).suspend()).toBe('queued')
    expect(await slotOf(world, id)).toBe(slot)
  },
  async 'a lost run takes no slot'(world) {
    const { id, slot } = await hourly(world)
    world.advance(3_000)
    await world.claim()
    world.advance(45_001)
    await world.tick()
    expect(await slotOf(world, id)).toBe(slot)
    world.advance(2_000)
    expect(await world.claim()).toHaveLength(1)
  },
  async 'a retry is for the same slot'(world) {
    const { id, slot } = await hourly(world)
    world.advance(3_000)
    await (await world.claimOne()).fail(retry)
    expect(await slotOf(world, id)).toBe(slot)
    world.advance(10_001)
    await (await world.claimOne()).commit()
    expect(await slotOf(world, id)).toBe(slot + HOUR)
  },
  async 'a slot set on a job at rest queues it, unless it waits for children'(world) {
    for (const end of ['suspended', 'completed'] as const) {
      const id = await world.make()
      await (await world.claimOne()).commit({ end })
      const slot = world.now() + HOUR
      await world.change(
        id,
        ...ops.patch({ fields: { repeats: encodeValue('SCHEDULED, +1 HOUR'), nextSlot: `${slot}` } }),
      )
      expect(await world.document(id)).toMatchObject({ place: 't', nextSlot: slot })
      expect(await world.document(id)).not.toHaveProperty('endedAt')
      expect(await world.claim()).toEqual([])
      world.advance(HOUR + 1_000)
      expect((await world.claimOne()).id).toBe(id)
    }
    const parent = await world.make()
    await (await world.claimOne()).suspend({
      ops: [{ op: 'spawn', name: 'a', queue: 'q', class: 'child' }],
      waitFor: 'children',
    })
    await world.change(
      parent,
      ...ops.patch({ fields: { repeats: encodeValue('DAILY'), nextSlot: `${world.now() + HOUR}` } }),
    )
    expect(await world.status(parent)).toBe('suspended')
  },
  async 'a schedule that is terminated keeps its slot for a forced run, and its last run uses none'(world) {
    const { id, slot } = await hourly(world, { class: 'closing', known: true, shutdown: true })
    world.advance(3_000)
    await world.change(id, 'terminate', '', '')
    const last = await world.claimOne()
    expect(last.snapshot.run).not.toHaveProperty('scheduledFor')
    await last.commit()
    expect(await world.document(id)).toMatchObject({ place: 'T', nextSlot: slot })
    await world.change(id, ...ops.run({ force: true }))
    await (await world.claimOne()).commit()
    expect(await world.document(id)).toMatchObject({ place: 't', nextSlot: slot + HOUR })
  },
  async 'a final failure keeps the schedule'(world) {
    const { id, slot } = await hourly(world)
    world.advance(3_000)
    expect(await (await world.claimOne()).fail()).toBe('queued')
    expect(await slotOf(world, id)).toBe(slot + HOUR)
    expect(await world.claim()).toEqual([])
    world.advance(HOUR)
    expect((await world.claimOne()).snapshot.run.attempt).toBe(1)
  },
  async 'consecutive failures are counted, but not retries; a success resets the count, a pause does not'(world) {
    const { id } = await hourly(world)
    const inARow = async () => (await world.document(id)).failedInARow
    const next = async () => {
      world.advance(HOUR)
      return world.claimOne()
    }
    expect(await (await next()).fail(retry)).toBe('queued')
    expect(await inARow()).toBeUndefined()
    world.advance(10_001)
    await (await world.claimOne()).fail()
    expect(await inARow()).toBe(1)
    await (await next()).fail()
    expect(await inARow()).toBe(2)
    await (await next()).suspend({ pause: { until: world.now() + 1_000 } })
    expect(await inARow()).toBe(2)
    await (await next()).commit()
    expect(await inARow()).toBeUndefined()
  },
  async 'a slot whose runs are lost ten times is left out, unless the run began before the slot'(world) {
    const lose = async (id: number) => {
      for (let n = 0; n < 10; n++) {
        expect((await world.claim()).map((run) => run.id)).toEqual([id])
        world.advance(45_001)
        await world.tick()
        world.advance(1_000 * 2 ** n)
      }
      return world.document(id)
    }
    const { id } = await hourly(world)
    world.advance(3_000)
    expect(await lose(id)).toMatchObject({ slotMissed: 'l', failedInARow: 1, lostRuns: 10 })
    expect(await world.document(id)).not.toHaveProperty('lostInARow')
    await world.change(id, 'delete', '', '1')
    const early = await hourly(world, { slot: world.now() + HOUR })
    await world.change(early.id, 'run', '', '1', '', '', '')
    expect(await lose(early.id)).not.toHaveProperty('slotMissed')
    expect(await world.claim()).toEqual([])
    await world.change(early.id, 'delete', '', '1')
    const strict = await hourly(world, {}, { bedrock: 'SCHEDULED, +1 HOUR', stopOnFail: true })
    world.advance(3_000)
    expect(await lose(strict.id)).toMatchObject({ place: 'f' })
  },
  async 'a final failure stops a repeat if configured'(world) {
    const { id } = await hourly(world, {}, { bedrock: 'SCHEDULED, +1 HOUR', stopOnFail: true })
    world.advance(3_000)
    expect(await (await world.claimOne()).fail()).toBe('failed')
    expect(await world.status(id)).toBe('failed')
  },
  async 'a terminated job is not listed as a schedule until it runs again'(world) {
    const { id } = await hourly(world)
    const listed = async () => (await world.store.list({ mode: 'repeats', limit: 10 })).jobs.map((job) => job.id)
    expect(await listed()).toEqual([id])
    await world.change(id, 'patch', 2, 'ns', '8640000000000000', 'rz', '1')
    expect(await listed()).toEqual([id])
    await world.change(id, 'terminate', '', '')
    expect(await listed()).toEqual([])
    expect(await world.faults()).toEqual([])
    await world.change(id, 'run', '', '1', '', '', '')
    expect(await (await world.claimOne()).commit()).toBe('queued')
    expect(await listed()).toEqual([id])
  },
  async 'a refused commit is a failure like any other: the next slot comes in an hour'(world) {
    const { id, slot } = await hourly(world)
    world.advance(3_000)
    const ops = [{ op: 'write' as const, to: { out: 'none' }, values: [encodeValue(1)] }]
    for (const [i, end] of (['completed', 'checkpoint'] as const).entries()) {
      expect(await (await world.claimOne()).commit({ end, ops })).toMatch(/^refused:/)
      expect(await slotOf(world, id)).toBe(slot + (i + 1) * HOUR)
      expect(await world.claim()).toEqual([])
      world.advance(HOUR)
    }
  },
  async 'missed slots run one after the other, after a delay'(world) {
    const { id, slot } = await hourly(world)
    world.advance(4.5 * HOUR)
    for (let n = 1; n < 5; n++) {
      const run = await world.claimOne()
      const before = world.now()
      await run.commit()
      const { place, nextSlot, catchUpAt } = await world.document(id)
      expect({ place, nextSlot }).toEqual({ place: 't', nextSlot: slot + n * HOUR })
      expect(catchUpAt).toBeGreaterThanOrEqual(before + 100)
      world.advance(101)
    }
    await (await world.claimOne()).commit()
    expect(await world.document(id)).not.toHaveProperty('catchUpAt')
  },
  async 'a missed slot of a pull class waits only for a claim'(world) {
    const pull = { pull: true }
    await hourly(world, pull)
    world.advance(5 * HOUR)
    for (let n = 0; n < 5; n++) await (await world.claimOne(pull)).commit()
    expect(await world.claim(pull)).toEqual([])
  },
  async 'runs for missed slots do not count as a runaway, and other runs do'(world) {
    const { id } = await hourly(world)
    world.advance(4.5 * HOUR)
    await (await world.claimOne()).commit()
    // A run for a missed slot starts 100 ms after the previous run. All runs below must be in one minute.
    world.advance(120_000 - (world.now() % 60_000))
    const full = async () =>
      world.restore(id, { ...(await world.document(id)), runsThisMinute: `${Math.floor(world.now() / 60_000)}:600` })
    await full()
    for (let n = 0; n < 4; n++) {
      await (await world.claimOne()).commit()
      world.advance(101)
    }
    await full()
    await world.change(id, 'run', '', '', '', '', '')
    expect(await world.claim()).toEqual([])
    expect(await world.status(id)).toBe('terminated')
  },
  async 'a slot with missed: skip is marked only if it is late'(world) {
    const skips = { cron: '0 * * * *', missed: 'skip' }
    const marked = async (late: number, repeat: unknown, before?: (id: number) => Promise<unknown>) => {
      const { id, slot } = await hourly(world, {}, repeat)
      world.advance(slot - world.now() + late)
      await before?.(id)
      await world.claim({ max: 0 })
      await world.tick()
      const { slotMissed } = await world.document(id)
      await world.change(id, 'delete', '', '1')
      return slotMissed
    }
    expect(await marked(301_000, skips)).toBe('1')
    expect(await marked(290_000, skips)).toBeUndefined()
    expect(await marked(301_000, { ...skips, missed: 'run' })).toBeUndefined()
    const asked = async (id: number) => {
      await world.restore(id, { ...(await world.document(id)), backoffUntil: world.now() + 5_000 })
      await world.change(id, 'run', '', '', '', '', '')
      world.advance(5_001)
    }
    expect(await marked(301_000, skips, asked)).toBeUndefined()
  },
  async 'a job with another reason to run runs even if its slot was missed'(world) {
    const { id, slot } = await hourly(world, { in: { in: {} } }, { cron: '0 * * * *', missed: 'skip' })
    world.advance(slot - world.now() + 301_000)
    await world.tick()
    expect((await world.document(id)).slotMissed).toBe('1')
    await world.push(id, 'in', '1')
    expect((await world.document(id)).slotMissed).toBeUndefined()
  },
  async 'a skipped slot changes only the next slot'(world) {
    const { id, slot } = await hourly(world, {}, { cron: '0 * * * *', missed: 'skip' })
    world.advance(slot - world.now() + 301_000)
    await world.tick()
    const before = await world.document(id)
    const run = await world.claimOne()
    const next = slot + 3 * HOUR
    const words = ['slot', String(next), '']
    const skipped = { token: run.token, n: 0, end: 'skipped' as const, words }
    const { answers } = await world.store.commit({ queue: '', runs: [skipped] })
    expect(answers).toEqual(['queued'])
    const { ranAt, startedUp, lastRun, place, nextSlot, slotMissed, runNumber } = await world.document(id)
    expect({ ranAt, startedUp, lastRun, place, nextSlot, slotMissed, runNumber }).toEqual({
      ranAt: before.ranAt,
      place: 't',
      nextSlot: next,
      runNumber: 1,
      startedUp: undefined,
      lastRun: undefined,
      slotMissed: undefined,
    })
  },
  async 'a schedule that ends between two slots completes without another run'(world) {
    const { id } = await hourly(world)
    await world.change(id, 'patch', '2', 'rp', '', 'ns', '')
    expect(await world.claim()).toEqual([])
    expect(await world.status(id)).toBe('completed')
  },
  async 'a slot that a caller sets during a run stays after it'(world) {
    const { id } = await hourly(world)
    world.advance(3_000)
    const run = await world.claimOne()
    const later = world.now() + 5 * HOUR
    await world.change(id, 'patch', '1', 'ns', String(later))
    expect(await run.commit()).toBe('queued')
    expect(await slotOf(world, id)).toBe(later)
  },
  async 'steps of one slot are not reused in the next'(world) {
    await hourly(world)
    world.advance(3_000)
    const run = await world.claimOne()
    await run.commit({ end: 'checkpoint', n: 0, ops: [{ op: 'step', name: 's', value: encodeValue(1) }] })
    await run.commit({ end: 'failed', n: 1, error: { message: 'x' } })
    world.advance(HOUR)
    expect((await world.claimOne()).snapshot.steps).toBeUndefined()
  },
}

export const time: Record<number, Facts> = { 19: rule19, 20: rule20, 21: rule21, 22: rule22 }

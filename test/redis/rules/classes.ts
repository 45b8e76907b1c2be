// Rule 97: counts by class need no extra command, and are bounded for any number of classes. Rule 128: counts by hour.

import { expect } from 'vitest'
import { createStats } from '../../../src/engine/api/stats.ts'
import type { Context } from '../../../src/engine/context.ts'
import type { Facts, World } from '../direct.ts'

const [MINUTE, DAY] = [60_000, 86_400_000]

const toNext = (world: World, ms: number) => world.advance(ms - (world.now() % ms) + 1_000)

async function classesOf({ store }: World, day?: 'today' | 'yesterday') {
  const stats = createStats({ store } as Context)
  const { classes } = await stats.classes({ queue: 'q', ...(day ? { day } : {}) })
  return Object.fromEntries(classes.map(({ class: name, queue: _, ...one }) => [name ?? 'others', one]))
}

async function eventsOf(world: World, day?: 'today' | 'yesterday') {
  const happened = (counts: object) => Object.fromEntries(Object.entries(counts).filter(([, n]) => n > 0))
  return Object.fromEntries(
    Object.entries(await classesOf(world, day)).map(([name, { counts }]) => [name, happened(counts)]),
  )
}

async function sizes(world: World) {
  const text = await world.client.ask((redis) => redis.get<string>(world.store.keys.classCounts('q')))
  const lines = (of?: string | null) => (of ? of.trimEnd().split('\n').length - 1 : 0)
  return { text: lines(text), beside: lines((await world.queueDocument()).cc) }
}

const endEach = async (world: World, ids: readonly number[]) => {
  for (const id of ids) await world.change(id, 'terminate', '', '')
}

const makeOf = async ({ store }: World, names: readonly string[]) =>
  (await store.enqueue(names.map((name) => ({ queue: 'q', class: name, known: true })))).made.map(({ id }) => id)

const names = (n: number) => Array.from({ length: n }, (_, i) => `class ${i}`)

const counted: Facts = {
  async 'each event counts for its class, for every way to end a job'(world) {
    await world.make()
    await (await world.claimOne()).commit()
    await world.make({ class: 'child' })
    await (await world.claimOne()).fail()
    const id = await world.make({ class: 'child' })
    await world.change(id, 'terminate', '', '')
    expect(await eventsOf(world)).toEqual({
      plain: { made: 1, runs: 1, completed: 1 },
      child: { made: 2, runs: 1, errors: 1, failed: 1, terminated: 1 },
    })
  },
  async 'packed jobs that end together count for their class'(world) {
    const lane = world.lane()
    await world.store.enqueue(Array(250).fill({ queue: 'q', class: 'plain', known: true }))
    const { runs } = await lane.ask({ bell: 'b', max: 100 })
    world.advance(5_000)
    await lane.ask({ leave: true, runs: await Promise.all(runs.map((run) => run.settled({}))) })
    expect(await eventsOf(world)).toEqual({ plain: { made: 250, runs: 100, completed: 100 } })
    const { waited, took } = (await classesOf(world)).plain!
    expect(took!.buckets).toEqual([0, 0, 0, 0, 0, 0, 100, 0, 0, 0, 0, 0])
    expect(took!.mean).toBeGreaterThanOrEqual(5_000)
    expect(took!.mean).toBeLessThan(10_000)
    expect(waited!.buckets.reduce((a, b) => a + b, 0)).toBe(100)
    expect(waited!.mean).toBeLessThan(5_000)
  },
  async 'waiting times and durations are counted in buckets'(world) {
    await world.make()
    world.advance(MINUTE)
    const run = await world.claimOne()
    world.advance(2_000)
    await run.commit()
    const { waited, took } = (await classesOf(world)).plain!
    expect(waited).toMatchObject({ p50: 100_000, p95: 100_000 })
    expect(waited!.mean).toBeLessThan(62_000)
    expect(took).toMatchObject({ p50: 3_000, buckets: [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0] })
  },
  async 'the counts of a day become the counts of the previous day at midnight'(world) {
    toNext(world, DAY)
    await makeOf(world, ['plain', 'plain'])
    toNext(world, DAY)
    await makeOf(world, ['plain'])
    expect(await eventsOf(world)).toEqual({ plain: { made: 1 } })
    expect(await eventsOf(world, 'yesterday')).toEqual({ plain: { made: 2 } })
  },
}

const bounded: Facts = {
  async 'the first hundred classes of a day have their own lines, and further classes share a line'(world) {
    await makeOf(world, names(130))
    await makeOf(world, [...names(130), 'another'])
    const events = await eventsOf(world)
    expect(Object.keys(events)).toHaveLength(101)
    expect(events['class 3']).toEqual({ made: 2 })
    expect(events.others).toEqual({ made: 30 * 2 + 1 })
    expect(await sizes(world)).toEqual({ text: 101, beside: 0 })
  },
  async 'a caller that has not read the counts adds to the queue’s document, and the next reader merges both'(world) {
    const ids = await makeOf(world, names(3))
    await endEach(world, ids.slice(0, 2))
    expect(await sizes(world)).toEqual({ text: 3, beside: 2 })
    expect(await eventsOf(world)).toMatchObject({ 'class 0': { made: 1, terminated: 1 } })
    await makeOf(world, names(1))
    expect(await sizes(world)).toEqual({ text: 3, beside: 0 })
    expect(await eventsOf(world)).toEqual({
      'class 0': { made: 2, terminated: 1 },
      'class 1': { made: 1, terminated: 1 },
      'class 2': { made: 1 },
    })
  },
  async 'counts by class in the queue’s document stay small'(world) {
    const ids = await makeOf(world, names(50))
    await endEach(world, ids)
    expect((await sizes(world)).beside).toBeLessThanOrEqual(20)
    const events = await eventsOf(world)
    for (const name of names(50)) expect(events[name]).toEqual({ made: 1, terminated: 1 })
  },
  async 'counts in the queue’s document from an earlier day belong to that day'(world) {
    toNext(world, DAY)
    const ids = await makeOf(world, names(4))
    toNext(world, DAY)
    await endEach(world, ids.slice(0, 1))
    toNext(world, DAY)
    await endEach(world, ids.slice(1, 2))
    expect(await eventsOf(world, 'yesterday')).toEqual({ 'class 0': { terminated: 1 } })
    expect(await eventsOf(world)).toEqual({ 'class 1': { terminated: 1 } })
  },
}

const taken: Facts = {
  async 'today’s counts in the queue’s document leave the counts of the previous day unchanged'(world) {
    toNext(world, DAY)
    const ids = await makeOf(world, names(2))
    toNext(world, DAY)
    await endEach(world, ids.slice(0, 1))
    await makeOf(world, names(1))
    expect(await eventsOf(world, 'yesterday')).toEqual({ 'class 0': { made: 1 }, 'class 1': { made: 1 } })
    expect(await eventsOf(world)).toEqual({ 'class 0': { made: 1, terminated: 1 } })
  },
}

const rule128: Facts = {
  async 'events of a class are reported by the hour, over midnight too'(world) {
    const HOUR = 3_600_000
    world.advance(DAY - (world.now() % DAY) - HOUR / 2)
    const hours = async (day?: 'today' | 'yesterday') => {
      const { classes } = await createStats({ store: world.store } as Context).classes({
        queue: 'q',
        hours: true,
        day,
      })
      const happened = ({ at, ...counts }: { at: number }) => [
        new Date(at).getUTCHours(),
        Object.fromEntries(Object.entries(counts as Record<string, number>).filter(([, n]) => n > 0)),
      ]
      return Object.fromEntries(classes.map((row) => [row.class, row.hours!.map(happened)]))
    }
    await makeOf(world, ['a', 'b'])
    world.advance(HOUR)
    const [id] = await makeOf(world, ['a'])
    world.advance(2 * HOUR)
    await world.change(id!, 'terminate', '', '')
    await makeOf(world, ['b', 'b'])
    expect(await hours('yesterday')).toEqual({ a: [[23, { made: 1 }]], b: [[23, { made: 1 }]] })
    expect(await hours()).toEqual({
      a: [
        [0, { made: 1 }],
        [2, { terminated: 1 }],
      ],
      b: [[2, { made: 2 }]],
    })
    world.advance(DAY - 2 * HOUR)
    await makeOf(world, ['a'])
    // Counts older than 24 hours are not reported.
    expect(await hours('yesterday')).toMatchObject({ b: [[2, { made: 2 }]] })
    expect((await hours('yesterday')).a).toEqual([[2, { terminated: 1 }]])
    expect(await hours()).toEqual({ a: [[0, { made: 1 }]] })
  },
  async 'counts in the queue’s document belong to their own hour'(world) {
    const HOUR = 3_600_000
    toNext(world, DAY)
    const [first, second] = await makeOf(world, ['a', 'a'])
    await endEach(world, [first!])
    world.advance(HOUR)
    await endEach(world, [second!])
    const { classes } = await createStats({ store: world.store } as Context).classes({ queue: 'q', hours: true })
    expect(classes[0]!.hours).toMatchObject([
      { made: 2, terminated: 1 },
      { made: 0, terminated: 1 },
    ])
  },
  async 'hours are reported for the first queues, as far as their texts fit'(world) {
    const names = ['q', 'r', 's']
    for (const queue of names) await world.make({ queue })
    const rowsOf = async (bytes?: number) =>
      (await world.store.classes('', 50, bytes)).queues.filter(({ queue }) => names.includes(queue))
    const hasHours = async (bytes: number) => (await rowsOf(bytes)).map((one) => one.hasHours)
    const bytes = 24 * (await rowsOf())[0]!.texts[1]!.length
    expect(await hasHours(0)).toEqual([false, false, false])
    expect(await hasHours(bytes - 1)).toEqual([false, false, false])
    expect(await hasHours(2 * bytes)).toEqual([true, true, false])
    expect(await hasHours(3 * bytes)).toEqual([true, true, true])
    expect((await rowsOf(bytes)).map(({ marks }) => marks.length)).toEqual([24, 0, 0])
  },
  async 'counts by hour are stored in at most 24 texts'(world) {
    for (let i = 0; i < 60; i++) {
      await makeOf(world, ['a'])
      world.advance(3_600_000)
    }
    const places = Array.from({ length: 30 }, (_, n) => `${world.namespace}counts:q:k${n}`)
    const texts = await world.client.ask((redis) => redis.mget<(string | null)[]>(...places))
    expect(texts.filter((text) => text !== null)).toHaveLength(24)
  },
}

export const classes: Record<number, Facts> = { 97: { ...counted, ...bounded, ...taken }, 128: rule128 }

// Rule 30: messages to listeners that are not jobs, and signals that wake waiting claims.

import { expect } from 'vitest'
import type { Encoded } from '../../../src/core/codec/value.ts'
import type { Op } from '../../../src/core/run.ts'
import type { Facts, World } from '../direct.ts'

const SAID = '/a/b'
const LEVELS = [SAID, '/a', '/']
const END = 'end'

async function heardAt(world: World, channels: string[], act: () => Promise<unknown>): Promise<string[][]> {
  const over = new AbortController()
  const listening = channels.map((channel) => world.client.listen(channel, over.signal)[Symbol.asyncIterator]())
  for (const one of listening) await one.next()
  await act()
  for (const channel of channels) await world.client.ask((redis) => redis.publish(channel, END))
  const heard = await Promise.all(
    listening.map(async (one) => {
      const texts: string[] = []
      for (;;) {
        const { value } = await one.next()
        if (value === END) return texts
        texts.push(value)
      }
    }),
  )
  over.abort()
  return heard
}

const heard = (world: World, act: () => Promise<unknown>, channels = LEVELS) =>
  heardAt(
    world,
    channels.map((channel) => world.store.keys.live(channel)),
    act,
  )

const listen = (world: World, ms: number, ...channels: string[]) =>
  world.change('', 'listen', ms, channels.length, ...channels)
const say = (world: World, value: string) => world.change('', 'publish', SAID, `=${value}`)
const text = (value: string) => `${SAID}\t${value}`

async function calledOf(world: World, waiters: Record<string, string[]>, act: () => Promise<unknown>, wait = 30_000) {
  const names = Object.keys(waiters)
  const calls = await heardAt(
    world,
    names.map((name) => world.store.keys.calls(name)),
    async () => {
      for (const [id, patterns] of Object.entries(waiters)) {
        const claim = { max: 1, lease: 45_000, pull: true, patterns, waiter: { id, wait } }
        expect((await world.store.commit({ queue: 'q', claim })).claimed).toEqual([])
      }
      await act()
    },
  )
  return Object.fromEntries(names.map((name, i) => [name, calls[i]!.length]))
}

const rule30: Facts = {
  async 'a message is received once at its channel and once at each channel above'(world) {
    await listen(world, 60_000)
    expect(await heard(world, () => say(world, '1'))).toEqual(LEVELS.map(() => [text('1')]))
  },
  async 'no message is published outside without listeners'(world) {
    expect(await heard(world, () => say(world, '1'))).toEqual([[], [], []])
  },
  async 'a listener that does not renew is removed'(world) {
    await listen(world, 30_000)
    world.advance(30_001)
    expect(await heard(world, () => say(world, '1'))).toEqual([[], [], []])
  },
  async 'a short-lived listener does not cut off a longer listener'(world) {
    await listen(world, 60_000)
    await listen(world, 10_000)
    world.advance(20_000)
    expect((await heard(world, () => say(world, '1')))[0]).toEqual([text('1')])
  },
  async 'messages of a refused run are never published'(world) {
    await world.make()
    const run = await world.claimOne()
    await listen(world, 60_000)
    const publish: Op = { op: 'publish', channel: SAID, message: '1' as Encoded }
    const broken: Op = { op: 'write', to: { out: 'none' }, values: ['1' as Encoded] }
    const said = await heard(world, () => run.commit({ ops: [publish, broken] }))
    expect(said[0]).toEqual([])
  },
  async 'external listeners receive changes of status, even if no port listens'(world) {
    await listen(world, 60_000)
    const [said] = await heard(world, () => world.make(), ['/sidejob'])
    expect(said).toEqual(['/sidejob/job/1\t{"status":"queued"}'])
  },
  async 'a listener of a channel receives only messages of the channel and its subchannels'(world) {
    await listen(world, 60_000, '/a')
    expect(await heard(world, () => say(world, '1'))).toEqual([[], [text('1')], []])
    await listen(world, 60_000, '/b')
    expect(await heard(world, () => say(world, '2'))).toEqual([[], [text('2')], []])
    const [status] = await heard(world, () => world.make(), ['/sidejob'])
    expect(status).toEqual([])
  },
  async 'a short-lived listener of a channel does not cut off a longer listener, and is removed'(world) {
    await listen(world, 60_000, '/a')
    await listen(world, 10_000, '/a')
    world.advance(20_000)
    expect((await heard(world, () => say(world, '1')))[1]).toEqual([text('1')])
    world.advance(41_000)
    expect(await heard(world, () => say(world, '1'))).toEqual([[], [], []])
  },
  async 'the status of one job is published to its listeners, from creation to end, and no other status'(world) {
    const [before, far] = [await world.make(), await world.make()]
    await world.claim()
    const second = far + 2 * (far - before)
    await listen(world, 60_000, `/sidejob/job/${second}`)
    const act = async () => {
      for (let n = 0; n < 3; n++) await world.make()
      for (const run of await world.claim({ max: 3 })) await run.commit()
    }
    const [own, all] = await heard(world, act, [`/sidejob/job/${second}`, '/sidejob'])
    const say = (status: string) => `/sidejob/job/${second}\t{"status":"${status}"}`
    expect(own).toEqual([say('queued'), say('running'), say('completed')])
    expect(all).toEqual([])
  },
  async 'the children of a job are one channel'(world) {
    const parent = await world.make()
    await listen(world, 60_000, `/sidejob/children/${parent}`)
    let child = 0
    const act = async () => {
      child = await world.make({ parent: String(parent), name: 'x' })
    }
    const [said, other] = await heard(world, act, [`/sidejob/children/${parent}`, '/sidejob'])
    expect(said).toEqual([`/sidejob/children/${parent}\t{"job":${child},"name":"x","status":"queued"}`])
    expect(other).toEqual([])
  },
  async 'a listener of more channels than are stored listens to all channels'(world) {
    await listen(world, 60_000, ...Array.from({ length: 101 }, (_, n) => `/c${n}`))
    expect((await heard(world, () => say(world, '1')))[0]).toEqual([text('1')])
  },
  async 'a job that becomes ready calls one of the waiting claims, not all'(world) {
    const called = await calledOf(world, { one: [], two: [], three: [] }, () => world.make({ pull: true }))
    expect(Object.values(called).sort()).toEqual([0, 0, 1])
  },
  async 'each of several jobs calls another waiting claim'(world) {
    await world.store.register('q', [{ name: 'plain', definition: '{"pull":true}', serves: 'pull' }])
    const two = Array(2).fill({ queue: 'q', class: 'plain', known: true })
    const called = await calledOf(world, { one: [], other: [] }, () => world.store.enqueue(two))
    expect(called).toEqual({ one: 1, other: 1 })
  },
  async 'only a claim waiting for its class is called'(world) {
    const called = await calledOf(world, { one: ['mail*'], other: ['pl*n'] }, () => world.make({ pull: true }))
    expect(called).toEqual({ one: 0, other: 1 })
  },
  async 'a job that becomes ready at its time also calls a waiting claim'(world) {
    await world.make({ pull: true, wait: 5_000 })
    const called = await calledOf(world, { one: [] }, async () => {
      world.advance(5_001)
      await world.tick()
      world.advance(21_000)
      await world.tick()
    })
    expect(called).toEqual({ one: 1 })
  },
  async 'a claim past its waiting time is no longer called'(world) {
    const act = async () => {
      world.advance(10_001)
      const claim = { max: 1, lease: 45_000, pull: true, waiter: { id: 'late', wait: 30_000 }, patterns: ['mail'] }
      await world.store.commit({ queue: 'q', claim })
      await world.make({ pull: true })
    }
    expect(await calledOf(world, { one: [] }, act, 10_000)).toEqual({ one: 0 })
  },
  async 'a claim that stops waiting is no longer called'(world) {
    const called = await calledOf(world, { one: [], other: [] }, async () => {
      const claim = { max: 1, lease: 45_000, pull: true, patterns: [], waiter: { id: 'one', wait: 0 } }
      await world.store.commit({ queue: 'q', claim })
      await world.make({ pull: true })
    })
    expect(called).toEqual({ one: 0, other: 1 })
  },
  async 'a claim that got a job without a call is not called for the next'(world) {
    const called = await calledOf(world, { one: [], other: [] }, async () => {
      await world.make({ pull: true })
      const claim = { max: 1, lease: 45_000, pull: true, patterns: [], waiter: { id: 'other', wait: 20_000 } }
      expect((await world.store.commit({ queue: 'q', claim })).claimed).toHaveLength(1)
      await world.make({ pull: true })
    })
    expect(called).toEqual({ one: 1, other: 0 })
  },
}

export const listening: Record<number, Facts> = { 30: rule30 }

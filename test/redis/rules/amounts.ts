// Rule 73: maximum sizes of ports and channels, and of the data that one call shows or copies.

import { expect } from 'vitest'
import type { Encoded } from '../../../src/core/codec/value.ts'
import { encodeValue } from '../../../src/core/codec/value.ts'
import type { Op } from '../../../src/core/run.ts'
import type { Facts, World } from '../direct.ts'

const DAY = 86_400_000
const later = (world: World) => world.now() + DAY

const source = (world: World) => world.make({ at: later(world), out: { out: {} } })
const sink = (world: World) => world.make({ at: later(world), in: { in: {} } })
const write = (world: World, id: number, dir: 'i' | 'o', port: string, n: number, size = 1) =>
  world.change(id, 'write', '', dir, port, '', n, ...Array(n).fill(`="${'x'.repeat(size)}"`))
const connect = (world: World, id: number, to: number[]) =>
  world.change(id, 'connect', '', 'o', 'out', to.length, ...to.flatMap((job) => [job, 'i', 'in']))
const size = async (world: World, id: number, dir: 'in' | 'out' = 'in') =>
  (await world.engine().ports.get(String(id), dir, dir)).size
const listener = (world: World, channel: string) =>
  world.make({ at: later(world), in: { in: { channels: [channel] } } })
const relayRuns = (world: World) => world.claim({ queue: 'sidejob.relay' })

async function fill(world: World, id: number, n: number) {
  for (let left = n; left > 0; left -= 5_000) await write(world, id, 'i', 'in', Math.min(left, 5_000))
}

const rule73: Facts = {
  async 'a port holds a hundred thousand values, and further writers get an error'(world) {
    const id = await listener(world, '/full')
    await fill(world, id, 100_000)
    await expect(write(world, id, 'i', 'in', 1)).rejects.toMatchObject({ code: 'LIMITED' })
    expect(await world.change('', 'publish', '/full', '=1')).toEqual(['0'])
    await world.change(id, 'take', '', 'i', 'in', 1)
    expect(await world.change('', 'publish', '/full', '=1')).toEqual(['1'])
  },
  async 'a call or run publishes at most ten thousand messages, for any listeners'(world) {
    const channels = Array.from({ length: 11 }, (_, i) => `/c${i}`)
    const id = await world.make({ out: { out: { channels } } })
    await expect(write(world, id, 'o', 'out', 1_000)).rejects.toMatchObject({ code: 'TOO_LARGE' })
    await write(world, id, 'o', 'out', 900)
    const run = await world.claimOne()
    const ops = Array.from(
      { length: 2 },
      (): Op => ({
        op: 'write',
        to: { out: 'out' },
        values: Array(500).fill(encodeValue(1)),
      }),
    )
    expect(await run.commit({ ops })).toMatch(/^refused:TOO_LARGE/)
  },
  async 'each run of a batch can publish ten thousand messages'(world) {
    for (let n = 0; n < 2; n++) await world.make({ out: { out: { channels: ['/a', '/b'] } } })
    const runs = await world.claim()
    const op: Op = { op: 'write', to: { out: 'out' }, values: Array(4_000).fill(encodeValue(1)) }
    const said = await Promise.all(runs.map((run) => run.settled({ ops: [op] })))
    expect((await world.store.commit({ queue: 'q', runs: said })).answers).toEqual(['completed', 'completed'])
  },
  async 'the relay sends many messages for many listeners'(world) {
    const ids = [await listener(world, '/some'), await listener(world, '/some'), await listener(world, '/some')]
    const id = await world.make({ at: later(world), out: { out: { channels: ['/some'] } } })
    await write(world, id, 'o', 'out', 700)
    expect(await size(world, ids[0]!)).toBe(0)
    for (let [run] = await relayRuns(world); run; [run] = await relayRuns(world)) await run.relay()
    for (const one of ids) expect(await size(world, one)).toBe(700)
  },
  async 'the relay sends large messages for many listeners, in pages of limited bytes'(world) {
    const ids = await Promise.all(Array.from({ length: 12 }, () => listener(world, '/large')))
    await world.change('', 'publish', '/large', `="${'x'.repeat(1_000_000)}"`)
    const holding = async () => (await Promise.all(ids.map((id) => size(world, id)))).filter((n) => n === 1).length
    expect(await holding()).toBe(0)
    const [run] = await relayRuns(world)
    await run!.relay()
    expect(await holding()).toBe(9)
    const [next] = await relayRuns(world)
    await next!.relay()
    expect(await holding()).toBe(12)
  },
  async 'a connection copies at most 5,000 values, counted for each target'(world) {
    const from = await source(world)
    const to = await Promise.all(Array.from({ length: 20 }, () => sink(world)))
    await write(world, from, 'o', 'out', 350)
    expect(await connect(world, from, to)).toEqual(['250'])
    expect(await size(world, from, 'out')).toBe(100)
    expect(await connect(world, from, to)).toEqual(['100'])
    for (const id of to) expect(await size(world, id)).toBe(350)
  },
  async 'a connection copies at most eight megabytes at once'(world) {
    const from = await source(world)
    const to = await Promise.all(Array.from({ length: 10 }, () => sink(world)))
    await write(world, from, 'o', 'out', 3, 300_000)
    expect(await connect(world, from, to)).toEqual(['2'])
    expect(await connect(world, from, to)).toEqual(['1'])
    await write(world, from, 'o', 'out', 1, 900_000)
    await expect(connect(world, from, to)).rejects.toMatchObject({ code: 'TOO_LARGE' })
    expect(await size(world, from, 'out')).toBe(1)
    expect(await connect(world, from, to.slice(1))).toEqual(['1'])
    await world.change(from, 'default', '', 'o', 'out', '1', `="${'x'.repeat(900_000)}"`)
    await expect(connect(world, from, to)).rejects.toMatchObject({ code: 'TOO_LARGE' })
  },
  async 'a page of jobs holds four megabytes, and the next page continues'(world) {
    const made = []
    for (let n = 0; n < 6; n++) made.push(await world.make({ at: later(world), args: `"${'x'.repeat(1_000_000)}"` }))
    const seen: number[] = []
    const pages: number[] = []
    for (let cursor: string | undefined | null; cursor !== null; ) {
      const page = await world.engine().jobs.list({ limit: 50, ...(cursor ? { cursor } : {}) })
      seen.push(...page.jobs.map(({ id }) => id))
      pages.push(page.jobs.length)
      cursor = page.cursor
    }
    expect(seen).toEqual(made.reverse())
    expect(pages).toEqual([4, 2])
  },
  async 'outside listeners receive at most twenty thousand messages'(world) {
    await world.change('', 'listen', 60_000, 0)
    const channel = '/a/b/c/d/e/f/g'
    const id = await world.make({ at: later(world), out: { out: { channels: [channel] } } })
    const before = await published(world)
    await write(world, id, 'o', 'out', 9_000)
    expect((await published(world)) - before).toBeLessThan(20_100)
  },
  async 'a page ends after 1 MiB of documents, also if no job matches'(world) {
    const ports = Object.fromEntries(
      Array.from({ length: 900 }, (_, i) => [`port${i}`, { default: `"${'x'.repeat(400)}"` as Encoded }]),
    )
    for (let n = 0; n < 4; n++) await world.make({ in: ports })
    const page = (before?: string) =>
      world.store.list({ mode: 'all', class: 'another', limit: 50, ...(before ? { before } : {}) })
    const first = await page()
    expect(first).toMatchObject({ jobs: [], cursor: expect.any(String) })
    expect(await page(first.cursor!)).toMatchObject({ jobs: [], cursor: null })
  },
}

async function published(world: World): Promise<number> {
  const info = await world.client.ask((redis) => redis.eval("return redis.call('INFO', 'commandstats')", [], []))
  return Number(/cmdstat_publish:calls=(\d+)/.exec(String(info))?.[1] ?? 0)
}

export const measured: Record<number, Facts> = { 73: rule73 }

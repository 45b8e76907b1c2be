// A version that comes after another: data that scripts from before `~schema` have written are served by ours, and while it
// is rolled out the scripts of both serve the same queue. Only scripts are those of then; who calls them is of today.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Script } from '../../src/redis/script.ts'
import { startState } from '../kit.ts'
import { createWorld, type World } from '../redis/direct.ts'

const packed = readFileSync(join(import.meta.dirname, 'scripts-before-schemas.json.br'))
const former = new Map(
  (JSON.parse(brotliDecompressSync(packed).toString()) as Script<never>[]).map((script) => [script.name, script]),
)

let state: Awaited<ReturnType<typeof startState>>
beforeAll(async () => {
  state = await startState()
})
afterAll(() => state.close())

/** The same namespace, served by the former scripts and by ours. */
async function both() {
  const ours = await createWorld(state.options)
  const theirs = await createWorld(state.options, former, 'as it comes', ours.namespace)
  return { ours, theirs }
}

const kinds = {
  plain: {},
  'in time': { wait: 1_000 },
  'with a port': { in: { in: {} }, inputs: { in: ['=1', '=2'] } },
  'in a group': { group: 'g', limits: [{ key: 'group:g', how: 'first', concurrency: 2 }] },
  'of a limit': { limits: [{ key: 'narrow', how: 'set', concurrency: 1 }] },
  'one of its kind': { unique: { key: 'once' } },
  'told of': { callback: { spec: '{"url":"http://127.0.0.1:9/"}', host: '127.0.0.1:9' } },
} as const

/** Claims and completes whatever is ready, until nothing is any more; answers the ids. */
async function serve(world: World, max = 100): Promise<number[]> {
  const runs = await world.claim({ max })
  for (const run of runs) expect(await run.commit()).toMatch(/completed|suspended/)
  return runs.map(({ id }) => id)
}

test('what was made before is done by ours, and each job once', async () => {
  const { ours, theirs } = await both()
  const made: number[] = []
  for (const kind of Object.values(kinds)) made.push(await theirs.make(kind as object))
  const lent = await theirs.claim({ max: 2 })
  const done: number[] = []
  for (const run of lent) if ((await ours.runOf(run.lent).commit()) === 'completed') done.push(run.id)
  ours.advance(120_000)
  for (let round = 0; round < 10; round++) {
    await ours.tick()
    done.push(...(await serve(ours)))
  }
  expect(done.toSorted((a, b) => a - b)).toEqual(made)
  expect(await ours.faults()).toEqual([])
})

test('while both serve a queue, a thousand jobs are done once each', { timeout: 120_000 }, async () => {
  const { ours, theirs } = await both()
  const made = new Set<number>()
  const done: number[] = []
  const shapes = [{}, kinds['with a port'], kinds['in time']] as object[]
  for (let i = 0; i < 1000; i++) made.add(await (i % 2 ? ours : theirs).make(shapes[i % 3]))
  for (const world of [ours, theirs]) world.advance(120_000)
  for (let round = 0; done.length < made.size && round < 500; round++) {
    const [claims, commits] = round % 2 ? [ours, theirs] : [theirs, ours]
    await claims.tick()
    for (const run of await claims.claim({ max: 40 })) {
      expect(await commits.runOf(run.lent).commit()).toMatch(/completed/)
      done.push(run.id)
    }
  }
  expect(new Set(done)).toEqual(made)
  expect(done).toHaveLength(made.size)
  expect(await ours.faults()).toEqual([])
})

// The indexes of limits were given other names after those scripts.
test('who waited at a limit when we came is let through', async () => {
  const { ours, theirs } = await both()
  const made = [await theirs.make(kinds['of a limit'] as object), await theirs.make(kinds['of a limit'] as object)]
  const first = await theirs.claim()
  expect(first.map(({ id }) => id)).toEqual([made[0]])
  await ours.runOf(first[0]!.lent).commit()
  ours.advance(120_000)
  await ours.tick()
  expect(await serve(ours)).toEqual([made[1]])
  expect(await ours.faults()).toEqual([])
})

test('while both serve a limit, whoever waits at either is let through', async () => {
  const { ours, theirs } = await both()
  const limited = kinds['of a limit'] as object
  const made: number[] = []
  for (let i = 0; i < 20; i++) made.push(await (i % 2 ? ours : theirs).make(limited))
  const done: number[] = []
  for (let round = 0; done.length < made.length && round < 200; round++) {
    const [claims, commits] = round % 2 ? [ours, theirs] : [theirs, ours]
    await ours.tick()
    for (const run of await claims.claim())
      if ((await commits.runOf(run.lent).commit()) === 'completed') done.push(run.id)
    for (const world of [ours, theirs]) world.advance(5_000)
  }
  expect(done.toSorted((a, b) => a - b)).toEqual(made)
  ours.advance(3_600_000)
  await ours.tick()
  expect(await ours.faults()).toEqual([])
  expect(await ours.client.ask((redis) => redis.get(ours.store.keys.schema))).toBe('1')
})

// A version that comes after another: data that scripts from before `~schema` have written are served by ours, and while it
// is rolled out the scripts of both serve the same queue.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { startState } from '../../kit/index.ts'
import { both as bothOf, kinds, rollOut, type State, serve } from './rolling.ts'

let state: State
beforeAll(async () => {
  state = await startState()
})
afterAll(() => state.close())

const both = () => bothOf(state)

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

// A thousand: upgrade.slow.test.ts.
test('while both serve a queue, a hundred and fifty jobs are done once each', { timeout: 120_000 }, () =>
  rollOut(state, 150),
)

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
  expect(await ours.client.ask((redis) => redis.get(ours.store.keys.schema))).toBe('2')
})

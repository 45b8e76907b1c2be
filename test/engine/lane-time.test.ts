import { expect, test } from 'vitest'
import { createLaneTime } from '../../src/engine/lane/lane-time.ts'

const start = (until?: number) => {
  let now = 1_000
  const time = createLaneTime({ budget: 100, until, elapsed: () => now })
  return {
    time,
    advance(ms: number): boolean {
      now += ms
      return time.isOver()
    },
  }
}

test('a working lane leaves when its budget is used up', () => {
  const { advance } = start()
  expect([advance(99), advance(1)]).toEqual([false, true])
})

test('waiting time does not count', () => {
  const { time, advance } = start()
  advance(50)
  time.rests()
  advance(200)
  time.works()
  expect([advance(49), advance(1)]).toEqual([false, true])
})

test('a lane that only waits leaves at four times its budget', () => {
  const { time, advance } = start()
  expect(time.latest).toBe(1_400)
  time.rests()
  advance(399)
  time.works()
  expect([advance(0), advance(1)]).toEqual([false, true])
})

test('a lane begun in a request leaves when the request has to end, even if budget is left', () => {
  const { time, advance } = start(1_030)
  expect(time.latest).toBe(1_030)
  time.rests()
  advance(29)
  time.works()
  expect([advance(0), advance(1)]).toEqual([false, true])
})

import { expect, test } from 'vitest'
import { createRunTimes } from '../../src/engine/run/run-time.ts'

function excesses(...batches: [asked: number, ...took: number[]][]): number[][] {
  const pace = createRunTimes()
  return batches.map(([asked, ...took]) => took.map((ms) => Math.round(pace.excess('q/c', asked, ms))))
}

test('runs as long as the previous runs have no excess time', () => {
  expect(excesses([0, 20, 22], [100, 20], [200, 21])).toEqual([[20, 22], [0], [1]])
})

test('a slow batch is detected against the previous one, not against its own fastest run', () => {
  expect(excesses([0, 20], [100, 80, 81, 85])).toEqual([[20], [60, 61, 65]])
})

test('the excess time of a run is at most 75 milliseconds', () => {
  expect(excesses([0, 500], [100, 9_000])).toEqual([[75], [75]])
})

test('the expected time of a slower class grows by a tenth of the difference with each batch', () => {
  const slower = Array.from({ length: 12 }, (_, n): [number, number] => [100 + n * 100, 60])
  const found = excesses([0, 30], ...slower).flat()
  expect(found.slice(1, 4)).toEqual([30, 27, 24])
  expect(found.at(-1)).toBe(0)
})

test('classes are measured separately', () => {
  const pace = createRunTimes()
  pace.excess('q/fast', 0, 5)
  pace.excess('q/slow', 0, 50)
  expect([pace.excess('q/fast', 1, 50), pace.excess('q/slow', 1, 50)]).toEqual([45, 0])
})

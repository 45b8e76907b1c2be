import { expect, test } from 'vitest'
import { pointsOf, sumSeries } from '../../src/core/series.ts'
import { seriesQuery } from '../../src/core/stats.ts'

const before = ['12,40,5,2,0,0,0,0,0,0', '10,0,3,2,0,0,0,0,0,0']
const latest = '0,7,6,6,1,0,0,0,0,0'

test('a point contains the events from one mark to the next mark, or until now', () => {
  expect(pointsOf({ before, latest }, { step: 1_000, since: 0 })).toMatchObject([
    { at: 10_000, made: 2, runs: 0, longestWait: 40 },
    { at: 12_000, made: 1, runs: 4, errors: 1, longestWait: 7 },
  ])
})

test('old points are left out', () => {
  expect(pointsOf({ before, latest }, { step: 1_000, since: 11_000 })).toMatchObject([{ at: 12_000 }])
  expect(pointsOf({ before: [], latest }, { step: 1_000, since: 0 })).toEqual([])
  expect(pointsOf({ before, latest }, { step: 1_000, since: 0, to: 12_000 })).toMatchObject([{ at: 10_000, made: 2 }])
})

test('points of queues are added, and the longest wait of all queues is kept', () => {
  const one = pointsOf({ before, latest }, { step: 1_000, since: 0 })
  expect(sumSeries([one, one.slice(1)])).toMatchObject([
    { at: 10_000, made: 2, longestWait: 40 },
    { at: 12_000, made: 2, runs: 8, longestWait: 7 },
  ])
  expect(one).toMatchObject([{ made: 2 }, { made: 1 }])
})

test('a part that ends before it begins is refused, with the place of the fault', () => {
  expect(seriesQuery.parse({ from: '1000', to: '2000' })).toEqual({ from: 1_000, to: 2_000 })
  expect(seriesQuery.safeParse({ from: '2000', to: '2000' }).error!.issues).toMatchObject([
    { path: ['to'], message: 'must be after "from"' },
  ])
})

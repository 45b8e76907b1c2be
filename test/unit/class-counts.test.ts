import { describe, expect, test } from 'vitest'
import { classCountsOf, classEnds } from '../../src/core/class-counts.ts'

const events = { made: 0, runs: 0, errors: 0, completed: 0, failed: 0, terminated: 0, lost: 0, skipped: 0 }

const line = (name: string, counts: number[], waited: number[] = [], took: number[] = []) => {
  const filled = (list: number[], n: number) => Array.from({ length: n }, (_, i) => list[i] || '')
  return `${name}\t${[...filled(counts, 8), ...filled(waited, 13), ...filled(took, 13)].join(',').replace(/,+$/, '')}\n`
}

describe('counts by class', () => {
  test('an absent event counts zero, and without runs there is no time', () => {
    expect(classCountsOf([`7\n${line('resize', [2, 0, 0, 1])}`], 7)).toEqual([
      { class: 'resize', counts: { ...events, made: 2, completed: 1 }, waited: null, took: null },
    ])
  })

  test('texts of the same day are added up', () => {
    const texts = [
      `7\n${line('b', [1])}${line('', [4])}`,
      `7\n${line('b', [2, 1])}${line('a', [1])}`,
      `6\n${line('b', [9])}`,
    ]
    const found = classCountsOf(texts, 7).map(({ class: name, counts }) => [name, counts.made, counts.runs])
    expect(found).toEqual([
      ['a', 1, 0],
      ['b', 3, 1],
      [null, 4, 0],
    ])
    expect(classCountsOf(['', ...texts], 5)).toEqual([])
  })

  test('half of all, and 95%, took at most as long as their bucket', () => {
    const [one] = classCountsOf([`7\n${line('a', [0, 20], [400, 20], [9_000, 0, 0, 18, 0, 1, 0, 1])}`], 7)
    expect(one!.waited).toMatchObject({ mean: 20, p50: 10, p95: 10 })
    expect(one!.took).toMatchObject({ mean: 450, p50: 100, p95: 1_000 })
    expect(one!.took!.buckets).toHaveLength(classEnds.length)
  })
})

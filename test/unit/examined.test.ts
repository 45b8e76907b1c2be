import { expect, test } from 'vitest'
import { afterLook, type Examined, examinedView, type Look } from '../../src/core/examined.ts'

const NOW = 1_800_000_000_000

type Slice = Omit<Look, 'faults'> & { faults: ('job' | 'queue')[] }
const first = (...faults: Slice['faults']): Slice => ({ cursor: '10', isFirst: true, isLast: false, faults })
const middle = (...faults: Slice['faults']): Slice => ({ cursor: '5010', isFirst: false, isLast: false, faults })
const last = (...faults: Slice['faults']): Slice => ({ cursor: '9', isFirst: false, isLast: true, faults })

const after = (slices: Slice[], known: Examined | null = null, from = NOW): Examined | null =>
  slices.reduce<Examined | null>((before, { faults, ...slice }, i) => {
    const look = { ...slice, faults: faults.map((kind) => ({ kind })) }
    return afterLook(before, look, from + i * 1_000) ?? before
  }, known)

test('a complete check without faults is recorded', () => {
  expect(examinedView(after([first(), middle(), last()])!)).toEqual({
    at: NOW + 2_000,
    whole: true,
    faults: {},
    since: null,
    cursor: null,
  })
})

test('a clean slice in the middle changes nothing', () => {
  const { faults: _, ...look } = middle()
  expect(afterLook(after([first()]), { ...look, faults: [] }, NOW)).toBeUndefined()
})

test('faults of all slices are counted by kind, with the time of the first fault', () => {
  const found = after([first('job', 'queue'), middle('job'), last()])!
  expect(examinedView(found)).toEqual({
    at: NOW + 2_000,
    whole: true,
    faults: { job: 2, queue: 1 },
    since: NOW,
    cursor: '10',
  })
})

test('a check of one slice does not affect the faults of another slice', () => {
  const found = after([first(), middle('job'), last()])
  expect(examinedView(after([first()], found, NOW + 60_000)!)).toMatchObject({
    whole: false,
    faults: { job: 1 },
    since: NOW + 1_000,
    cursor: '5010',
  })
})

test('a lasting fault keeps its first time, and a repaired fault is removed', () => {
  const found = after([first('job'), middle('queue'), last()])
  const again = after([first('job'), middle()], found, NOW + 60_000)!
  expect(examinedView(again)).toMatchObject({ faults: { job: 1 }, since: NOW })
  expect(examinedView(after([first()], again, NOW + 90_000)!)).toMatchObject({ faults: {}, since: null, cursor: null })
})

test('a complete check forgets slices that no longer exist', () => {
  const found = after([first(), middle('queue'), last()])
  expect(examinedView(after([first(), last()], found, NOW + 60_000)!).faults).toEqual({})
})

test('no more than twenty slices are kept', () => {
  const slices = Array.from({ length: 30 }, (_, i): Slice => ({ ...middle('job'), cursor: `${i}0` }))
  const found = after(slices)!
  expect(Object.keys(found.slices)).toHaveLength(20)
  expect(examinedView(found).faults).toEqual({ job: 20 })
})

import { expect, test } from 'vitest'
import { createGathering } from '../../src/core/gathering.ts'

function start(apart: number, times = 40) {
  const gathering = createGathering(6, 0)
  for (let i = 1; i <= times; i++) gathering.note(i * apart)
  return gathering
}

const inVain = (gathering: ReturnType<typeof createGathering>, times: number): number[] =>
  Array.from({ length: times }, (_, i) => {
    if (gathering.wait() === 0) return -1
    gathering.brought(0)
    return i
  }).filter((i) => i >= 0)

test('rare calls do not wait, nor does the first call', () => {
  expect(start(20).wait()).toBe(0)
  expect(createGathering(6).wait()).toBe(0)
})

test('frequent calls wait as long as a wait gathers other calls', () => {
  const gathering = start(2)
  for (let i = 0; i < 100; i++) {
    expect(gathering.wait()).toBe(6)
    gathering.brought(i % 2)
  }
})

test('a sequential caller waits less and less, and again immediately with concurrent callers', () => {
  const gathering = start(2)
  expect(inVain(gathering, 300)).toEqual([0, 1, 3, 6, 11, 20, 37, 70, 135, 200, 265])
  gathering.brought(1)
  expect(gathering.wait()).toBe(6)
})

test('calls that arrive together count as frequent calls', () => {
  const gathering = createGathering(6, 0)
  for (let i = 1; i <= 40; i++) gathering.note(i * 40, 8)
  expect(gathering.wait()).toBe(6)
})

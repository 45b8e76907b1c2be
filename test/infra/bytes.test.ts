import { expect, test } from 'vitest'
import { bytesOfRooms, lowered, readBounds, roomOf, tooLarge } from '../../infra/bytes.ts'

test('no room is larger than its bound', () => {
  const rooms = bytesOfRooms()
  expect(Object.keys(rooms)).toEqual(expect.arrayContaining(['src/core', 'src/redis/lua', 'src/dev', 'functions']))
  expect(tooLarge(rooms, readBounds())).toEqual([])
})

test('a room that exceeds its bound is reported with both numbers, and so is a new room', () => {
  expect(tooLarge({ 'src/cli': 120_001, 'src/new': 1 }, { 'src/cli': 120_000 })).toEqual([
    'src/cli: 120001 bytes, expected at most 120000',
    'src/new: 1 bytes, expected at most 0',
  ])
})

test('an update only lowers bounds', () => {
  const rooms = { 'src/cli': 95_000, 'src/core': 350_000 }
  const bounds = { 'src/cli': 120_000, 'src/core': 340_000 }
  expect(lowered(rooms, bounds)).toEqual({ 'src/cli': 100_000, 'src/core': 340_000 })
})

test.each([
  ['src/redis/lua/scripts/commit.lua', 'src/redis/lua'],
  ['src/redis/store.ts', 'src/redis'],
  ['src/files.ts', 'src'],
  ['infra/stand-ins/qstash/sorted.ts', 'infra/stand-ins'],
  ['infra/start.ts', 'infra'],
  ['functions/download/index.ts', 'functions'],
])('%s is in the room %s', (file, room) => {
  expect(roomOf(file)).toBe(room)
})

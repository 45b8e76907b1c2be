// bytes.json has a maximum of source bytes for each folder. The sum of these bounds may only fall.
// node infra/bytes.ts --update    lower the bounds of folders that shrank

import { execFileSync } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const boundsFile = join(import.meta.dirname, 'bytes.json')
const SOURCE = /\.(ts|tsx|lua|css|go|js|mjs|tf)$/
/** Bounds are multiples of this number of bytes, so that a small fix does not exceed a bound. */
const STEP = 10_000

type Bytes = Record<string, number>

/** @example roomOf('src/redis/lua/lib/job.lua') // 'src/redis/lua' */
export function roomOf(file: string): string {
  if (file.startsWith('src/redis/lua/')) return 'src/redis/lua'
  const [top, room, rest] = file.split('/')
  return rest === undefined || (top !== 'src' && top !== 'infra') ? top! : `${top}/${room}`
}

/** Generated files do not count, because git ignores them. */
export function bytesOfRooms(): Bytes {
  const rooms: Bytes = {}
  const listed = execFileSync('git', ['ls-files', 'src', 'functions', 'infra'], { cwd: root, encoding: 'utf8' })
  for (const file of listed.split('\n').filter((name) => SOURCE.test(name))) {
    const bytes = statSync(join(root, file), { throwIfNoEntry: false })?.size ?? 0
    rooms[roomOf(file)] = (rooms[roomOf(file)] ?? 0) + bytes
  }
  return rooms
}

export const tooLarge = (rooms: Bytes, bounds: Bytes): string[] =>
  Object.entries(rooms).flatMap(([room, bytes]) =>
    bytes > (bounds[room] ?? 0) ? [`${room}: ${bytes} bytes, expected at most ${bounds[room] ?? 0}`] : [],
  )

export const lowered = (rooms: Bytes, bounds: Bytes): Bytes =>
  Object.fromEntries(
    Object.entries(rooms)
      .map(([room, bytes]) => [room, Math.min(bounds[room] ?? Infinity, Math.ceil(bytes / STEP) * STEP)] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )

export const readBounds = (): Bytes => JSON.parse(readFileSync(boundsFile, 'utf8'))

if (import.meta.main) {
  const rooms = bytesOfRooms()
  if (process.argv[2] === '--update') {
    writeFileSync(boundsFile, `${JSON.stringify(lowered(rooms, readBounds()), null, 2)}\n`)
  } else {
    const problems = tooLarge(rooms, readBounds())
    if (problems.length) {
      console.error([...problems, 'Remove code of this room, or move it to the room where it belongs.'].join('\n'))
      process.exit(1)
    }
  }
}

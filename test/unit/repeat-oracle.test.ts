// Compares our slots with SQLite, because the date functions of SQLite define the modifiers of Bedrock.

import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { type Moments, nextSlot } from '../../src/core/repeat.ts'

const ROUNDS = 10_000
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31)

// Mulberry32.
let state = seed
const random = () => {
  state = (state + 0x6d2b79f5) | 0
  let t = Math.imul(state ^ (state >>> 15), 1 | state)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
}
const upTo = (n: number) => Math.floor(random() * n)
const pick = <T>(list: ArrayLike<T>): T => list[upTo(list.length)]!

const db = new DatabaseSync(':memory:')
const modify = db.prepare('SELECT datetime(?, ?) AS at')
const startOfHour = db.prepare("SELECT strftime('%Y-%m-%d %H:00:00', ?) AS at")

const apply = (at: string | null, modifier: string): string | null => {
  if (at === null) return null
  // SQLite does not have this modifier of Bedrock.
  const row = modifier === 'START OF HOUR' ? startOfHour.get(at) : modify.get(at, modifier)
  const text = (row as { at: string | null }).at
  return text?.startsWith('-') ? null : text
}

const sqlite = (from: number, modifiers: string[]): number => {
  const text = modifiers.reduce(apply, new Date(from).toISOString().slice(0, 19))
  return text === null ? Number.NaN : Date.parse(`${text.replace(' ', 'T')}Z`)
}

const kinds: (() => string)[] = [
  () =>
    `${pick('+-')}${upTo(10 ** (1 + upTo(3)))} ${pick(['YEAR', 'MONTH', 'DAY', 'HOUR', 'MINUTE'])}${pick(['', 'S'])}`,
  () => `+${upTo(40)} ${pick(['MONTHS', 'DAYS', 'HOURS', 'MINUTES', 'SECONDS'])}`,
  () => `${pick('+-')}${upTo(10 ** (1 + upTo(8)))} SECOND${pick(['', 'S'])}`,
  () => `START OF ${pick(['HOUR', 'DAY', 'MONTH', 'YEAR'])}`,
  () => `WEEKDAY ${upTo(7)}`,
]

const someModifiers = () => Array.from({ length: 1 + upTo(5) }, () => pick(kinds)())
const someMoment = () =>
  Math.floor(
    Date.UTC(pick([1, 100, 1600, 1970, 2000, 2024, 2026, 2100, 9900]), 0) + upTo(30 * 366 * 86_400) * 1000 + upTo(1000),
  )

const answer = (repeat: Parameters<typeof nextSlot>[0], moments: Moments, now: number) => {
  try {
    return nextSlot(repeat, moments, now)
  } catch {
    return Number.NaN
  }
}

const bases = ['scheduled', 'started', 'finished'] as const

test(`${ROUNDS} random repeats give the slots that SQLite gives (seed ${seed})`, () => {
  for (let round = 0; round < ROUNDS; round++) {
    const base = pick(bases)
    const modifiers = someModifiers()
    const moments = { scheduled: someMoment(), started: someMoment(), finished: someMoment() }
    const repeat = [pick([base, base.toUpperCase()]), ...modifiers].join(pick([',', ', ']))
    const found = answer(repeat, moments, moments.finished)
    if (!Object.is(found, sqlite(moments[base], modifiers))) {
      expect({ repeat, moments, found }).toEqual({ repeat, moments, found: sqlite(moments[base], modifiers) })
    }
  }
})

test(`random repeats that skip missed slots continue at the next slot of SQLite (seed ${seed})`, () => {
  for (let round = 0; round < ROUNDS / 10; round++) {
    const modifiers = someModifiers()
    const scheduled = someMoment()
    const slots = [scheduled]
    while (slots.length < 12 && (slots.length === 1 || slots.at(-1)! > slots.at(-2)!)) {
      slots.push(sqlite(slots.at(-1)!, modifiers))
    }
    const now = pick(slots.slice(0, -1)) + upTo(5000)
    const expected = slots.find((slot, n) => n > 0 && !(slot > slots[n - 1]! && slot <= now))
    if (expected === undefined) continue
    const repeat = { bedrock: ['SCHEDULED', ...modifiers].join(), missed: 'skip' } as const
    const found = answer(repeat, { scheduled }, now)
    if (!Object.is(found, expected))
      expect({ repeat, scheduled, now, found }).toEqual({ repeat, scheduled, now, found: expected })
  }
})

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { eventOf, SOON_MS, transitions } from '../../src/engine/lane/lane-state.ts'

const words = ['ok', 'more', 'empty', 'full', 'stale', 'warm'] as const

const events = (leaves: boolean, idle: boolean) =>
  Object.fromEntries(words.map((word) => [word, eventOf({ word }, { leaves, idle })]))

test('a lane with time left serves as long as Redis has jobs for it', () => {
  expect(events(false, true)).toEqual({
    ok: 'jobs',
    more: 'jobs',
    warm: 'quiet',
    empty: 'done',
    full: 'done',
    stale: 'done',
  })
})

test('a lane that may not claim waits for its runs, then leaves', () => {
  expect(events(false, false)).toEqual({
    ok: 'jobs',
    more: 'jobs',
    warm: 'quiet',
    empty: 'ending',
    full: 'ending',
    stale: 'ending',
  })
})

test('a lane past its time claims no jobs', () => {
  const all = (event: string) => Object.fromEntries(words.map((word) => [word, word === 'warm' ? 'quiet' : event]))
  expect(events(true, false)).toEqual(all('ending'))
  expect(events(true, true)).toEqual(all('done'))
})

test('a lane without jobs waits for a job that is due soon, unless its time has ended', () => {
  const due = (dueIn: number, leaves: boolean) => eventOf({ word: 'empty', dueIn }, { leaves, idle: true })
  expect([due(SOON_MS, false), due(SOON_MS + 1, false), due(SOON_MS, true)]).toEqual(['due', 'done', 'done'])
})

test('the diagram of src/README.md has every transition, and no other', () => {
  const nodeOf = (state: string) => (state === 'cold' ? '[*]' : state.replace(' ', '_'))
  const expected = Object.entries(transitions).flatMap(([from, to]) =>
    Object.entries(to).map(([event, next]) => `${nodeOf(from)} --> ${nodeOf(next)}: ${event}`),
  )
  const readme = readFileSync(new URL('../../src/README.md', import.meta.url), 'utf8')
  const drawn = readme
    .match(/stateDiagram-v2\n([^`]*)/)![1]!
    .split('\n')
    .flatMap((line) => {
      const [, arrow, labels] = /^ *(\S+ --> \S+): (.*)$/.exec(line) ?? []
      return arrow ? labels!.split(', ').map((event) => `${arrow}: ${event}`) : []
    })
  expect(drawn.toSorted()).toEqual(expected.toSorted())
})

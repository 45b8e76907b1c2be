import { expect, test } from 'vitest'
import { type AlertState, nextStep, type Problem } from '../../src/core/alert.ts'

const MINUTE = 60_000
const times = { after: () => 0, every: MINUTE }
const problem: Problem = { key: 'slow mail', rule: 'slow', text: 'slow', since: 0, link: '/', isSevere: false }

const step = (state: AlertState, minute: number, seen?: Problem) =>
  nextStep(problem.key, state, seen, times, minute * MINUTE)

const sent = ({ state: { alert, ...rest }, told }: ReturnType<typeof step>, minute: number): AlertState =>
  told && alert ? { ...rest, alert: { ...alert, toldAt: minute * MINUTE } } : { ...rest, alert }

test('after a mute, no message repeats the problem, but one reports its end', () => {
  const begun = step({}, 1, problem)
  expect(begun.told?.what).toBe('begins')
  const muted = { ...sent(begun, 1), muted: { by: 'ann', at: MINUTE } }
  const lasting = step(muted, 5, problem)
  expect(lasting.told).toBeUndefined()
  const gone = step(lasting.state, 6)
  expect(gone.told).toBeUndefined()
  expect(step(gone.state, 8).told?.what).toBe('is over')
})

test('a problem that began and ended while it was muted causes no message', () => {
  const begun = step({ muted: { by: 'ann', at: 0 } }, 1, problem)
  expect(begun.told).toBeUndefined()
  const gone = step(begun.state, 2)
  expect(step(gone.state, 4).told).toBeUndefined()
})

import { expect, test } from 'vitest'
import { type AlertState, nextStep, type Problem } from '../../src/core/alert.ts'

const MINUTE = 60_000
const times = { after: () => 0, every: MINUTE }
const problem: Problem = { key: 'slow mail', rule: 'slow', text: 'slow', since: 0, link: '/', isSevere: false }

const step = (state: AlertState, minute: number, seen?: Problem) =>
  nextStep(problem.key, state, seen, times, minute * MINUTE)

const sent = ({ state: { alert, ...rest }, notice }: ReturnType<typeof step>, minute: number): AlertState =>
  notice && alert ? { ...rest, alert: { ...alert, toldAt: minute * MINUTE } } : { ...rest, alert }

test('after a mute, no message repeats the problem, but one reports its end', () => {
  const begun = step({}, 1, problem)
  expect(begun.notice?.what).toBe('begins')
  const muted = { ...sent(begun, 1), muted: { by: 'ann', at: MINUTE } }
  const lasting = step(muted, 5, problem)
  expect(lasting.notice).toBeUndefined()
  const gone = step(lasting.state, 6)
  expect(gone.notice).toBeUndefined()
  expect(step(gone.state, 8).notice?.what).toBe('is over')
})

test('a problem that began and ended while it was muted causes no message', () => {
  const begun = step({ muted: { by: 'ann', at: 0 } }, 1, problem)
  expect(begun.notice).toBeUndefined()
  const gone = step(begun.state, 2)
  expect(step(gone.state, 4).notice).toBeUndefined()
})

import { expect, test } from 'vitest'
import { sleep } from '../../src/core/sleep.ts'
import { createCalledJobs } from '../../src/engine/lane/called-jobs.ts'
import type { ClaimedJob } from '../../src/redis/types.ts'

const lentUnder = (token: string): ClaimedJob => ({ document: { token } }) as unknown as ClaimedJob

test('jobs that arrive during a report to Redis are reported with the next request', () => {
  const called = createCalledJobs()
  called.byCall([lentUnder('1.1.a')], 0)
  const told = called.tokens()
  called.byCall([lentUnder('2.1.a')], 5)
  called.confirmed(told.length)
  expect(called.tokens()).toEqual(['2.1.a'])
})

test('with frequent calls a lane waits for more before it commits; with sequential calls it does not', async () => {
  const called = createCalledJobs()
  let calls = 0
  const call = () => called.byCall([lentUnder(`${++calls}.1.a`)], calls * 2)
  const waits = async () => {
    const gathered = called.gather().then(() => false)
    const found = await Promise.race([gathered, sleep(0).then(() => true)])
    return { found, gathered }
  }
  while (calls < 40) call()
  for (let i = 0; i < 3; i++) {
    const { found, gathered } = await waits()
    call()
    await gathered
    expect(found, 'each moment brings one more').toBe(true)
  }
  for (let i = 0; i < 2; i++) await called.gather()
  expect((await waits()).found, 'two brought nobody').toBe(false)
  called.confirmed(called.tokens().length)
  expect((await waits()).found, 'there were several for one commit').toBe(true)
})

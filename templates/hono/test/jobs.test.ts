import { call, sandbox } from 'sidejob/testing'
import { expect, test } from 'vitest'
import { approval } from '../src/jobs/approval.ts'
import { double } from '../src/jobs/double.ts'

test('each number is doubled', async () => {
  const { out, end } = await call(double, { n: [1, 2, 3] })
  expect(out).toEqual({ doubled: [2, 4, 6] })
  expect(end).toBe('completed')
})

test('an approval waits for its decision', async () => {
  const job = sandbox(approval)
  expect((await job.settle())?.end).toBe('suspended')
  job.write('decision', { approved: true, by: 'ann' })
  expect((await job.settle())?.result).toEqual({ approved: true, by: 'ann' })
})

test('without one it is refused after three days, and a later decision changes nothing', async () => {
  const job = sandbox(approval)
  await job.settle()
  job.advance('3 days')
  expect((await job.settle())?.result).toEqual({ approved: false, by: 'timeout' })
  job.write('decision', { approved: true, by: 'ann' })
  expect((await job.settle())?.result).toEqual({ approved: false, by: 'timeout' })
})

import { sandbox } from 'sidejob/testing'
import { expect, test } from 'vitest'
import { report } from '../src/jobs/report.ts'

test('a report waits for the Python worker', async () => {
  const job = sandbox(report, { args: { text: 'hello' } })
  expect((await job.settle())?.end).toBe('suspended')
  job.child('shout#1', { status: 'completed', left: 'HELLO' })
  expect((await job.settle())?.result).toEqual({ text: 'hello', shouted: 'HELLO' })
})

// Time and commands of a rehearsal of many jobs.

import { expect, test } from 'vitest'
import { costOf } from '../../redis/commandstats.ts'
import { startRehearsal } from './rehearsal.ts'

const JOBS = 1_000

test('a rehearsal of 1,000 jobs takes less than a minute and two commands for each job, and changes nothing', async () => {
  const stage = await startRehearsal(JOBS)
  try {
    const before = await stage.digest()
    const began = performance.now()
    let report = ''
    const { calls, billed, commands } = await costOf(stage.kit, async () => {
      report = (await stage.run()).printed
    })
    const took = performance.now() - began
    console.info({ jobs: JOBS, seconds: Math.round(took / 100) / 10, calls, billed, ...commands })
    expect(report).toMatch(/\n1000 jobs: 600 continue, 400 would change\n$/)
    expect(took).toBeLessThan(60_000)
    expect(billed).toBeLessThanOrEqual(2 * JOBS)
    expect(calls).toBeLessThanOrEqual(JOBS / 10)
    expect(await stage.digest()).toBe(before)
  } finally {
    await stage.close()
  }
}, 300_000)

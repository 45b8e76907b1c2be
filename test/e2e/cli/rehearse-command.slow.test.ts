import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { kind } from '../../kit/index.ts'
import { startRehearsal } from './rehearsal.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 })

const JOBS = 40

describe.skipIf(kind === 'embedded')('sidejob rehearse', () => {
  let stage: Awaited<ReturnType<typeof startRehearsal>>
  beforeAll(async () => {
    stage = await startRehearsal(JOBS)
  })
  afterAll(() => stage.close())

  test('reports what the next version would do, changes nothing, and exits with 1', async () => {
    const before = await stage.digest()
    const { exit, printed, noted } = await stage.run()
    expect(noted).toBe('')
    expect(printed).toContain('class_0: 4 jobs\n  4 continue (such as job ')
    expect(printed).toMatch(
      /class_6: 4 jobs\n {2}4 would fail instead of repeating a step: the job has stored step "price", but the function requests step "price in cents" \(such as job \d+\)/,
    )
    expect(printed).toMatch(
      /class_7: 4 jobs\n {2}4 would fail instead of waiting 13d23h longer than in the code: the job has stored sleep#1 \(sleep of 14d\), but the function requests sleep#1 \(sleep of 1h\)/,
    )
    expect(printed).toMatch(/class_8: 4 jobs\n {2}4 need this class, which the code does not define/)
    expect(printed).toMatch(/class_9: 4 jobs\n {2}4 would fail: not ready for class 9/)
    expect(printed).toMatch(/\n40 jobs: 24 continue, 16 would change\n$/)
    expect(exit).toBe(1)
    expect(await stage.digest()).toBe(before)
    expect(existsSync(join(stage.project.dir, 'acted'))).toBe(false)
  })

  test('exits with 0 if all jobs continue, and prints JSON with --json', async () => {
    const { exit, printed, noted } = await stage.run('--class', 'class_3', '--limit', '3', '--json')
    expect([exit, noted]).toEqual([0, ''])
    const { classes, ...sums } = JSON.parse(printed)
    expect(sums).toEqual({ jobs: 3, continues: 3, pinned: 0, changed: 0, unjudged: 0, elsewhere: 0 })
    expect(classes).toEqual([
      {
        queue: 'default',
        class: 'class_3',
        jobs: 3,
        continues: 3,
        findings: [{ is: 'continues', next: 'step "charge"', jobs: 3, example: expect.any(Number) }],
      },
    ])
    expect(await stage.run('--queue', 'empty')).toMatchObject({ exit: 0, printed: 'No job waits inside a function\n' })
  })

  test('sidejob schemas prints the hash of each class with schemas in the folder', async () => {
    const { exit, printed, noted } = await stage.schemas()
    expect({ exit, noted }).toEqual({ exit: 0, noted: '' })
    expect(JSON.parse(printed)).toEqual({ 'default/adder': expect.stringMatching(/^[0-9a-f]{16}$/) })
  })
})

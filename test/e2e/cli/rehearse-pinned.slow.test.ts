import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Worker } from '../../../src/core/worker.ts'
import { createEngine } from '../../../src/engine/index.ts'
import { defineWorker, type Job } from '../../../src/index.ts'
import { kind } from '../../kit/index.ts'
import { startRehearsal } from './rehearsal.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 })

const JOBS = 40

describe.skipIf(kind === 'embedded')('sidejob rehearse and move', () => {
  let stage: Awaited<ReturnType<typeof startRehearsal>>
  beforeAll(async () => {
    stage = await startRehearsal(JOBS)
  })
  afterAll(() => stage.close())

  test('counts jobs whose redacted values the code reads, does not show the values, and exits with 1', async () => {
    const { kit } = stage
    const card = defineWorker({
      class: 'card',
      queue: 'cards',
      redact: ['args.number'],
      async perform(job: Job) {
        await job.step('check', () => 'checked')
        await job.sleep('3 days')
      },
    })
    const qstash = { ...kit.engineOptions.qstash, url: 'http://127.0.0.1:1' }
    const engine = createEngine({ ...kit.engineOptions, qstash, workers: [card as Worker] })
    const args = JSON.stringify({ number: 'four1one1' })
    const { jobs } = await engine.jobs.enqueue([1, 2].map(() => ({ queue: 'cards', class: 'card', args }) as never))
    await engine.dispatch('cards', '')

    const { exit, printed } = await stage.run('--queue', 'cards')
    expect(printed).toBe(
      `card (queue cards): 2 jobs\n  2 could not be judged: it reads args, which is masked (such as job ${jobs[1]!.id})\n` +
        '2 jobs: 0 continue, 2 could not be judged\n',
    )
    expect(exit).toBe(1)
    const json = await stage.run('--queue', 'cards', '--json')
    expect(JSON.parse(json.printed)).toMatchObject({ jobs: 2, continues: 0, changed: 0, unjudged: 2 })
    expect(json.printed).not.toContain('four1one1')
    for (const { id } of jobs) await engine.jobs.remove(String(id), { force: true })
  })

  test('draws a progress bar on a terminal, and removes it before the report', async () => {
    const { printed, noted } = await stage.runOnTerminal('--class', 'class_3')
    expect(noted).toContain(`\r\u001b[K[${'='.repeat(3)}`)
    expect(noted).toMatch(/\[=+ *\] 4 of \d+, rehearsed/)
    expect(noted.endsWith('\r\u001b[K')).toBe(true)
    expect(printed).toContain('class_3: 4 jobs')
  })

  test('shows that pinned jobs stay, rehearses them with --moved, and sidejob move continues them', async () => {
    const { kit } = stage
    const contract = defineWorker({
      class: 'contract',
      queue: 'pinned',
      pin: true,
      async perform(job: Job) {
        await job.step('send', () => undefined)
        await job.sleep('90 days')
      },
    })
    const deploy = async (version: string) => {
      const versionUrl = `https://${version}.example.com`
      // Without bells, other versions do not serve the jobs.
      const qstash = { ...kit.engineOptions.qstash, url: 'http://127.0.0.1:1' }
      const engine = createEngine({ ...kit.engineOptions, qstash, workers: [contract], version, versionUrl })
      await engine.tick()
      return engine
    }
    const v1 = await deploy('v1')
    const { jobs } = await v1.jobs.enqueue([{ queue: 'pinned', class: 'contract' }])
    await v1.dispatch('pinned', '')
    await deploy('v2')

    const would =
      'would fail instead of repeating a step: the job has stored step "send", but the function requests step "send again"'
    const staying = await stage.run('--queue', 'pinned')
    expect(staying).toMatchObject({ exit: 0, noted: '' })
    expect(staying.printed).toBe(
      `contract (queue pinned): 1 job\n  1 stays on version v1; moved to this code: ${would} (such as job ${jobs[0]!.id})\n` +
        '1 job: 0 continue, 1 stays on another version\n',
    )
    const moved = await stage.run('--queue', 'pinned', '--moved')
    expect(moved.exit).toBe(1)
    expect(moved.printed).toContain(`1 ${would}`)

    expect(await stage.move()).toMatchObject({
      exit: 2,
      noted: 'sidejob move: --to: expected a version or the address of a push worker, got none\n',
    })
    expect(await stage.move('--to', 'v3')).toMatchObject({
      exit: 1,
      noted: expect.stringContaining('to: expected a version that a deployment has announced (v1, v2), got v3'),
    })
    expect((await stage.move('--to', 'v2')).noted).toBe('move: 1 job matches; add --yes to change them\n')
    expect(await stage.move('--to', 'v2', '--yes', '--wait')).toMatchObject({ exit: 0 })
    expect((await kit.engine.jobs.get(String(jobs[0]!.id))).pinnedTo).toBe('v2')
    expect((await stage.move(String(jobs[0]!.id), '--to', 'v1')).noted).toBe(
      'move: 1 job matches; add --yes to change them\n',
    )
    await kit.engine.jobs.remove(String(jobs[0]!.id), { force: true })
  })

  test('refuses a wrong command line, a folder without a Worker and code that does not build', async () => {
    expect(await stage.run('--limit', 'x')).toMatchObject({
      exit: 2,
      noted: 'sidejob rehearse: --limit: expected a whole number above 0, got x\n',
    })
    expect((await stage.run('--url', 'http://127.0.0.1:1')).exit).toBe(1)
    stage.project.write('src/broken.ts', 'export const x = (')
    stage.project.write('wrangler.json', JSON.stringify({ name: 'mine', main: 'src/broken.ts' }))
    expect(await stage.run()).toMatchObject({ exit: 1, noted: expect.stringContaining('src/broken.ts:1:18') })
    stage.project.write('src/broken.ts', 'export default {}')
    expect(await stage.run()).toMatchObject({
      exit: 1,
      noted: expect.stringContaining('src/broken.ts: expected a call of createWorker with functions, found none'),
    })
  })
})

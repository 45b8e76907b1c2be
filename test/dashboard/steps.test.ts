import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineWorker, type Job } from '../../src/index.ts'
import { startPages } from './kit.ts'

const SLOW = 30
const order = defineWorker({
  class: 'order',
  in: { go: {} },
  async perform(job: Job) {
    await job.step('reserve', async () => {
      await new Promise((resolve) => setTimeout(resolve, SLOW))
      return { place: '<b>&' }
    })
    if (job.size('go') === 0) return job.sleep('1h')
    await job.step('charge', () => 'charged')
    await job.sleep('1h')
  },
})

const trial = defineWorker({
  class: 'trial',
  async perform(job: Job) {
    await job.step('welcome', () => 1)
    await job.sleep(20 * SLOW)
    await job.step('remind', () => 2)
  },
})

const invoices = defineWorker({
  class: 'invoices',
  async perform(job: Job) {
    await job.step('invoice', () => ({ kind: 'invoice', done: true }))
  },
})

const edited = defineWorker({
  class: 'edited',
  async perform(job: Job) {
    await job.patched('audit')
    await job.parallel([(at) => at.patched('<i>').then(() => at.sleep('1h'))])
  },
})

let pages: Awaited<ReturnType<typeof startPages>>
beforeAll(async () => {
  pages = await startPages({ workers: [order, trial, invoices, edited] })
})
afterAll(() => pages.close())

test('completed steps are shown in order with time, duration, run and size, without the current wait', async () => {
  const id = String(await pages.make('order'))
  await pages.until(async () => (await pages.engine.jobs.steps(id)).steps.length === 1)
  const { steps, cursor } = await pages.engine.jobs.steps(id)
  expect(cursor).toBeNull()
  expect(steps).toEqual([
    { name: 'reserve', at: expect.any(Number), took: expect.any(Number), run: expect.any(Number), bytes: 16 },
  ])
  expect(steps[0]!.took).toBeGreaterThanOrEqual(SLOW - 2)
  expect(Math.abs(steps[0]!.at! - Date.now())).toBeLessThan(60_000)

  const reader = await pages.enter(['read'])
  const shown = await reader.html(`/ui/jobs/${id}?tab=steps`)
  expect(shown).toMatch(/Completed steps.*reserve.*16 bytes/s)
  expect(shown).not.toContain('<b>&')
  expect(shown, 'a row of the timeline').toMatch(/<b>reserve<\/b><\/span><span class="kind">step, run \d+<\/span>/)
})

test('the page of a completed function showed neither its steps nor its sleep', async () => {
  const id = String(await pages.make('trial'))
  await pages.until(async () => (await pages.engine.jobs.get(id)).status === 'completed')
  const { steps, waits } = await pages.engine.jobs.steps(id)
  expect(steps.map(({ name }) => name)).toEqual(['welcome', 'remind'])
  expect(waits).toMatchObject([{ name: 'sleep#1', kind: 'sleep' }])
  expect(waits[0]!.took).toBeGreaterThan(0)
  expect(waits[0]!.took).toBeLessThanOrEqual(20 * SLOW)
  const reader = await pages.enter(['read'])
  const html = await reader.html(`/ui/jobs/${id}?tab=steps`)
  for (const { name } of [...steps, ...waits]) {
    expect(html, 'a row of the timeline').toContain(`<b>${name}</b></span>`)
    expect(html, 'a row of the tab').toContain(`title="${name}"`)
  }
})

test('a step whose value looks like a wait is listed as a step only', async () => {
  const id = String(await pages.make('invoices'))
  await pages.until(async () => (await pages.engine.jobs.get(id)).status === 'completed')
  expect(await pages.engine.jobs.steps(id)).toMatchObject({ steps: [{ name: 'invoice' }], waits: [] })
})

test('the answers of patches are listed', async () => {
  const id = String(await pages.make('edited'))
  await pages.until(async () => (await pages.engine.jobs.steps(id)).patches.length === 2)
  const answers = [
    { name: '<i> in parallel#1[0]', patched: true, at: expect.any(Number) },
    { name: 'audit', patched: true, at: expect.any(Number) },
  ]
  expect(await pages.engine.jobs.steps(id)).toEqual({ steps: [], waits: [], patches: answers, cursor: null })
  const reader = await pages.enter(['read'])
  const shown = await reader.html(`/ui/jobs/${id}?tab=steps`)
  expect(shown).toContain('Patches: &lt;i&gt; in parallel#1[0] (new path), audit (new path).')
})

test('a job without steps has a note, and an unknown job is refused', async () => {
  const reader = await pages.enter(['read'])
  await pages.engine.queues.update('default', { paused: true })
  const id = String(await pages.make('order'))
  expect(await pages.engine.jobs.steps(id)).toEqual({ steps: [], waits: [], patches: [], cursor: null })
  expect(await reader.html(`/ui/jobs/${id}?tab=steps`)).toContain('No steps are stored')
  await expect(pages.engine.jobs.steps('999')).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

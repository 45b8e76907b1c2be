import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPages } from './kit.ts'

const HOUR = 3_600_000

let pages: Awaited<ReturnType<typeof startPages>>
beforeAll(async () => {
  pages = await startPages({ hold: true })
  await pages.engine.workers.register('p', 'job', { pull: true, limits: [{ key: 'stripe', concurrency: 1 }] })
  await pages.engine.workers.register('r', 'job', {
    pull: true,
    limits: [{ key: 'rated', rate: { limit: 1, period: HOUR } }],
  })
  await pages.engine.workers.register('g', 'job', { pull: true })
})
afterAll(async () => {
  expect(await pages.engine.doctor.verify()).toEqual([])
  await pages.close()
})

const make = async (queue: string, input: object = {}) =>
  (await pages.engine.jobs.enqueue([{ queue, class: 'job', ...input }])).jobs[0]!.id
const waitingAt = async (key: string) => (await pages.engine.limits.get(key)).waiting

test('the preview of a limit names the jobs that would start, in order, and changes nothing', async () => {
  const ids: number[] = []
  for (const priority of [0, 3, 1, 2]) ids.push(await make('p', { priority }))
  await pages.engine.runs.claim('p', { max: 1 })
  for (let i = 0; i < 3; i++) await pages.engine.runs.claim('p', { max: 1 })
  expect(await waitingAt('stripe')).toBe(3)
  const asked = (settings: object) => pages.engine.limits.set('stripe', settings, { preview: true })
  for (const [settings, n] of [
    [{ concurrency: 1 }, 0],
    [{ concurrency: 3 }, 2],
    [{ concurrency: 3, paused: true }, 0],
    [{ concurrency: null }, 3],
    [{}, 0],
    [{ concurrency: null, rate: { limit: 2, period: HOUR } }, 2],
  ] as const)
    expect(await asked(settings)).toMatchObject({ key: 'stripe', running: 1, waiting: 3, preview: { wouldStart: n } })
  const { concurrency, preview } = await asked({ concurrency: 3 })
  expect([concurrency, preview!.first.map(({ job }) => job)]).toEqual([3, [ids[2], ids[3]]])
  expect(await pages.engine.limits.get('stripe')).toMatchObject({ concurrency: 1, waiting: 3 })
  expect(await pages.engine.limits.set('stripe', { concurrency: 3 })).not.toHaveProperty('preview')
  expect(await waitingAt('stripe')).toBe(1)
  const claimed = await pages.engine.runs.claim('p', { max: 5 })
  expect(claimed.map(({ job }) => job.id)).toEqual([ids[2], ids[3]])
})

test('the preview of a rate counts starts within the new period', async () => {
  await make('r')
  await pages.engine.runs.claim('r', { max: 1 })
  await make('r')
  await pages.engine.runs.claim('r', { max: 1 })
  expect(await waitingAt('rated')).toBe(1)
  await pages.advance(10 * 60_000)
  for (const [rate, n] of [
    [{ limit: 1, period: HOUR }, 0],
    [{ limit: 2, period: HOUR }, 1],
    [{ limit: 1, period: HOUR / 2 }, 0],
    [{ limit: 1, period: 60_000 }, 1],
    [null, 1],
  ] as const)
    expect((await pages.engine.limits.set('rated', { rate }, { preview: true })).preview!.wouldStart).toBe(n)
  await pages.engine.limits.set('rated', { rate: { limit: 1, period: 60_000 } })
  expect(await waitingAt('rated')).toBe(0)
})

test('the preview of a group without a limit has no waiting jobs, and an unknown group is refused', async () => {
  const group = { id: 'mail', concurrency: 1 }
  const ids = [await make('g', { group }), await make('g', { group }), await make('g', { group })]
  await pages.engine.runs.claim('g', { max: 1 })
  await pages.engine.runs.claim('g', { max: 1 })
  const asked = await pages.engine.groups.set('mail', { concurrency: 2 }, { preview: true })
  expect(asked).toMatchObject({ id: 'mail', concurrency: 2, preview: { wouldStart: 1, first: [{ job: ids[1] }] } })
  expect(await pages.engine.groups.get('mail')).toMatchObject({ concurrency: 1 })
  expect(await pages.engine.limits.set('new', { concurrency: 2 }, { preview: true })).toEqual({
    key: 'new',
    concurrency: 2,
    rate: null,
    paused: false,
    shutUntil: null,
    running: 0,
    waiting: 0,
    preview: { wouldStart: 0, first: [] },
  })
  await expect(pages.engine.limits.get('new')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(pages.engine.groups.set('none', {}, { preview: true })).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('the forms of a limit and of a group show the effect of the typed values', async () => {
  const admin = await pages.enter(['read', 'admin'])
  const shown = async (query: string) =>
    /id="preview"[^>]*>(.*?)<\/div>/s.exec(await admin.html(`/ui/limits?${query}`))?.[1]?.replaceAll(/<[^>]*>/g, '')
  expect(await shown('change=stripe')).toBe('')
  expect(await shown('key=stripe&concurrency=9&limit=&period=')).toMatch(/^1 job could start immediately: #\d+/)
  expect(await shown('key=group:mail&concurrency=1')).toBe('No job would start immediately.')
  expect(await shown('key=stripe&concurrency=x&limit=&period=')).toBe('')
  expect(await shown('key=stripe&concurrency=&limit=9&period=1parsec')).toBe('')
  expect(await shown('key=group:mail&concurrency=2')).toMatch(/^1 job could start immediately: #\d+/)
  expect(await admin.html('/ui/limits?change=stripe')).toContain('data-preview="key concurrency limit period"')
  expect(await admin.html('/ui/limits?change=group:mail')).toContain('name="key" value="group:mail"')
})

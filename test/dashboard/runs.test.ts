import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineWorker } from '../../src/index.ts'
import { startPages } from './kit.ts'

const adder = defineWorker({
  class: 'adder',
  history: 5,
  in: { n: {} },
  out: { sum: {} },
  async perform(job) {
    job.log('adds <b>')
    if (job.size('n') === 0) return job.suspend()
    await job.read('n')
    if (!job.children.kid) job.spawn('kid', { class: 'plain' })
    job.publish('/sums', 1)
    return job.suspend()
  },
})
const plain = defineWorker({ class: 'plain', perform: () => undefined })

let pages: Awaited<ReturnType<typeof startPages>>
beforeAll(async () => {
  pages = await startPages({ workers: [adder, plain] })
})
afterAll(() => pages.close())

test('each run shows how long it waited and links to its effects', async () => {
  const id = String(await pages.make('adder', { inputs: { n: [1, 2] } }))
  await pages.until(async () => (await pages.engine.jobs.get(id)).status === 'suspended')
  const reader = await pages.enter(['read'])
  const list = await reader.html(`/ui/jobs/${id}?tab=runs`)
  expect(list).toMatch(/Waited.*Took/s)
  expect(list).toContain(`/ui/jobs/${id}?tab=runs&amp;run=1#run`)
  expect(list).not.toContain('Committed')
  const one = await reader.html(`/ui/jobs/${id}?tab=runs&run=1`)
  expect(one).toMatch(/aria-current="page">\s*Run 1/)
  expect(one).toMatch(/<dt>Ready<\/dt>.*, waited.*<dt>Committed<\/dt><dd>1 time<\/dd>/s)
  expect(one).toMatch(/<dt>Published<\/dt><dd>1 to \/sums<\/dd>.*<dt>Created<\/dt><dd>kid .*\/ui\/jobs\/\d+/s)
  expect(one).toContain('adds &lt;b&gt;')
  expect(one).not.toContain('adds <b>')
})

test('a run without a stored record has a note, and rows of a job without history have no links', async () => {
  const reader = await pages.enter(['read'])
  const id = String(await pages.make('adder'))
  await pages.until(async () => (await pages.engine.jobs.get(id)).status === 'suspended')
  for (const run of ['9', '0', 'x', ''])
    expect(await reader.html(`/ui/jobs/${id}?tab=runs&run=${run}`)).toContain('This run is not stored')
  const other = String(await pages.make('plain'))
  await pages.until(async () => (await pages.engine.jobs.get(other)).status === 'completed')
  const shown = await reader.html(`/ui/jobs/${other}?tab=runs`)
  expect(shown).toContain('Runs, newest first')
  expect(shown).not.toContain('run=1')
})

test('a new job is created with the inputs of the last run', async () => {
  const id = String(await pages.make('adder', { inputs: { n: [1] } }))
  await pages.until(async () => (await pages.engine.jobs.get(id)).status === 'suspended')
  const writer = await pages.enter(['read', 'write'])
  expect(await writer.html(`/ui/jobs/${id}`)).toContain('Duplicate with the inputs of the last run')
  const done = await (await writer.act(`/ui/jobs/${id}`, { act: 'again' })).json()
  expect(done).toMatchObject({ say: expect.stringMatching(/^Job #\d+ created with the same inputs$/) })
  const other = String(await pages.make('plain'))
  expect(await writer.html(`/ui/jobs/${other}`)).not.toContain('Duplicate with the inputs')
  const reader = await pages.enter(['read'])
  expect((await reader.act(`/ui/jobs/${id}`, { act: 'again' })).status).toBe(403)
})

test('a duplicate lists the values that it does not copy because a run has read them', async () => {
  const id = String(await pages.make('adder', { inputs: { n: [1] } }))
  await pages.until(async () => (await pages.engine.jobs.get(id)).in.n!.taken === 1)
  const writer = await pages.enter(['read', 'write'])
  expect(await writer.html(`/ui/jobs/new?from=${id}`)).toContain('Not copied: values that its runs have read.')
})

test('a schedule lists its last runs, or says that only the last run is stored', async () => {
  const reader = await pages.enter(['read'])
  const cron = { cron: '0 3 * * *' }
  const [kept, brief] = [
    await pages.make('adder', { repeat: cron, alias: ['adds'] }),
    await pages.make('plain', { repeat: cron }),
  ].map(String) as [string, string]
  for (const id of [kept, brief]) await pages.engine.jobs.run(id, {})
  await pages.until(async () =>
    (await Promise.all([kept, brief].map((id) => pages.engine.jobs.runs(id)))).every(({ runs }) => runs.length === 1),
  )
  expect(await reader.html('/ui/schedules')).toContain(`/ui/schedules?runs=${kept}#past`)
  const shown = await reader.html(`/ui/schedules?runs=${kept}`)
  expect(shown).toMatch(/Last runs of adds.*suspended/s)
  expect(shown).toContain(`/ui/jobs/${kept}?tab=runs&amp;run=1#run`)
  expect(shown).not.toContain('Only the last run and the last ten failed or lost runs are stored')
  expect(await reader.html(`/ui/schedules?runs=${brief}`)).toMatch(
    /Last runs of plain.*Only the last run and the last ten failed or lost runs are stored/s,
  )
  for (const none of ['999999', 'x y'])
    expect(await reader.html(`/ui/schedules?runs=${encodeURIComponent(none)}`)).not.toContain('id="past"')
})

test('the calendar shows stored runs, and links to the time before and after', async () => {
  const reader = await pages.enter(['read'])
  const id = String(await pages.make('adder', { repeat: { cron: '0 3 1 1 *' }, alias: ['drawn'] }))
  const runsOf = async () => (await pages.engine.jobs.runs(id)).runs
  for (let n = 1; n <= 3; n++) {
    await pages.engine.jobs.run(id, {})
    await pages.until(async () => (await runsOf()).length === n)
  }
  const { schedules } = await pages.engine.schedules.list({ runs: true })
  expect(schedules.find(({ job }) => String(job) === id)!.runs!.map(({ n }) => n)).toEqual([3, 2, 1])
  expect((await pages.engine.schedules.list({})).schedules[0]).not.toHaveProperty('runs')
  pages.forget()
  const dotsIn = (html: string): number => {
    const row = html.slice(html.indexOf('<b>drawn</b>'))
    return (
      row.slice(0, row.indexOf('</svg>', row.indexOf('class="trk"'))).match(/<circle class="f-completed"/g)?.length ?? 0
    )
  }
  const today = await reader.html('/ui/schedules?view=day')
  expect(dotsIn(today)).toBe(3)
  expect(today).toMatch(/aria-current="page">Now/)
  const earlier = /href="\/ui(\/schedules\?[^"]*)"[^>]*>Earlier/.exec(today)![1]!.replaceAll('&amp;', '&')
  const before = await reader.html(`/ui${earlier}`)
  expect(dotsIn(before)).toBeLessThan(3)
  expect(before).not.toMatch(/aria-current="page">Now/)
  expect(before).toMatch(/aria-current="page">24 h/)
  const later = /href="\/ui(\/schedules\?[^"]*)"[^>]*>Later/.exec(before)![1]!.replaceAll('&amp;', '&')
  expect(dotsIn(await reader.html(`/ui${later}`)) + dotsIn(before)).toBe(3)
})

test('without kept runs the page explains how to keep them', async () => {
  const reader = await pages.enter(['read'])
  const shown = async (name: string) => {
    const id = await pages.make(name)
    await pages.rest(id)
    await pages.engine.jobs.run(String(id), {})
    await pages.until(async () => (await pages.engine.jobs.get(String(id), { details: true })).cost!.total === 2)
    return reader.html(`/ui/jobs/${id}?tab=runs`)
  }
  const note = 'Only the last run and the last ten failed or lost runs are stored.'
  expect(await shown('plain')).toContain(note)
  expect(await shown('adder')).not.toContain(note)
})

test('below the table of runs, a short error was shown again, and an error with a stack did not name its run', async () => {
  const reader = await pages.enter(['read'])
  await pages.engine.workers.register('remote', 'fetch', { pull: true, history: 5, retry: { max: 0 } })
  const tabOf = async (error: { message: string; stack?: string }) => {
    const id = await pages.make('fetch', { queue: 'remote' })
    const [claimed] = await pages.engine.runs.claim('remote', { lease: 60_000 })
    await pages.engine.runs.commit(claimed!.run.token, { n: 1, end: 'failed', error })
    await pages.until(async () => (await pages.engine.jobs.get(String(id))).status === 'failed')
    return (await reader.html(`/ui/jobs/${id}?tab=runs`)).split('id="tabs"')[1]!
  }
  const short = await tabOf({ message: 'no answer' })
  expect(short).toMatch(/failed<\/span><span class="dim">: no answer/)
  expect(short).not.toContain('class="fault"')
  expect(await tabOf({ message: 'no answer', stack: 'Error: no answer\n    at run (job.ts:1:1)' })).toMatch(
    /class="fault"><p>Run 1 <b>no answer<\/b>/,
  )
})

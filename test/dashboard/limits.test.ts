import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPages, type Visitor } from './kit.ts'

let pages: Awaited<ReturnType<typeof startPages>>
let admin: Visitor

beforeAll(async () => {
  pages = await startPages({ hold: true })
  await pages.engine.workers.register('press', 'print', { pull: true, limits: [{ key: 'printer', concurrency: 2 }] })
  admin = await pages.enter(['read', 'admin'])
})
afterAll(() => pages.close())

const textOf = (html: string): string => html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')
const opened = async (): Promise<string> => textOf(await admin.html('/ui/limits?open=printer'))
const claim = () => pages.engine.runs.claim('press', { max: 5, lease: 3_600_000, process: 'old-printer' })
async function finish(runs: Awaited<ReturnType<typeof claim>>): Promise<void> {
  for (const { run } of runs) await pages.engine.runs.commit(run.token, { n: 1, end: 'completed' })
}

test('a full limit is called stuck if all its runs take far longer than usual, and names the worker to check', async () => {
  await pages.advance(-120_000)
  for (let n = 0; n < 15; n++) await pages.make('print', { queue: 'press' })
  await finish(await claim())
  const stuck = await claim()
  expect(stuck).toHaveLength(2)
  await pages.advance(120_000)
  expect(await opened()).toMatch(
    /Stuck: no run has ended for 2 m \d\d s ?\. Runs of print usually take up to \d+ ms\. Check worker old-printer/,
  )
  await finish(stuck)
  expect(await claim()).toHaveLength(2)
  expect(await opened()).toContain('2 of 2 slots are held')
  expect(await opened()).not.toContain('Stuck')
})

test('a limit with nine waiting jobs shows eight, and all nine when expanded', async () => {
  const html = await admin.html('/ui/limits?open=printer')
  expect(html).toContain('<summary>Show all 9</summary>')
  expect(html.slice(html.indexOf('Waiting jobs</caption>')).match(/class="id" href="\/ui\/jobs\/\d+"/g)).toHaveLength(9)
})

test('a group is changed in the form of its limit, and Undo restores its former limit', async () => {
  await pages.make('print', { queue: 'press', group: { id: 'north', concurrency: 3 } })
  const html = await admin.html('/ui/limits?change=group:north')
  expect(html).toContain('Change group:north')
  expect(html).toMatch(/name="concurrency"[^>]*value="3"|value="3"[^>]*name="concurrency"/)
  const fields = { act: 'set', key: 'group:north', concurrency: '5', limit: '', period: '' }
  const done = (await (await admin.act('/ui/limits', fields)).json()) as { say: string; undo: Record<string, string> }
  expect(done.say).toBe('Limit group:north changed: max 5 running, of the group')
  expect((await pages.engine.groups.get('north')).concurrency).toBe(5)
  await admin.act('/ui/limits', { ...done.undo })
  expect((await pages.engine.groups.get('north')).concurrency).toBe(3)
})

test('a raised limit with free slots was still called full', async () => {
  await pages.engine.workers.register('press', 'bind', { pull: true, limits: [{ key: 'glue', concurrency: 1 }] })
  for (let n = 0; n < 3; n++) await pages.make('bind', { queue: 'press' })
  await pages.engine.runs.claim('press', { names: ['bind'], max: 3, lease: 3_600_000 })
  const row = async () => /id="limit-glue".*?<div class="q">/s.exec(await admin.html('/ui/limits'))![0]
  expect(textOf(await row())).toContain('1 of 1; full for ')
  await pages.engine.limits.set('glue', { concurrency: 9 })
  expect(textOf(await row())).toContain('1 of 9 ')
})

test('limits after the 60th were not listed, and a link to one of them opened nothing', async () => {
  const keys = Array.from({ length: 75 }, (_, i) => `many-${String(i).padStart(2, '0')}`)
  for (const key of keys) await pages.engine.limits.set(key, { concurrency: 1 })
  const listedOn = (html: string) => [...html.matchAll(/id="limit-(many-\d+)"/g)].map(([, key]) => key)
  const first = await admin.html('/ui/limits?q=many')
  expect(textOf(first)).toContain('75 limits')
  expect(listedOn(first)).toEqual(keys.slice(0, 60))
  const more = /href="([^"]*)"[^>]*>More limits</.exec(first)![1]!.replaceAll('&amp;', '&')
  const second = await admin.html(more)
  expect(listedOn(second)).toEqual(keys.slice(60))
  expect(second).not.toContain('More limits')
  expect(textOf(await admin.html('/ui/limits?open=many-74'))).toContain('0 of 1 slots are held')
})

test('the page omitted the groups after the 60th, without a message', async () => {
  await pages.engine.workers.register('crowd', 'idle', { pull: true })
  const groups = Array.from({ length: 61 }, (_, i) => ({ queue: 'crowd', class: 'idle', group: { id: `crowd-${i}` } }))
  await pages.engine.jobs.enqueue(groups)
  expect(textOf(await admin.html('/ui/limits'))).toMatch(/Groups the first 60 of 6\d /)
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { encodeValue } from '../../src/core/codec/value.ts'
import { defineWorker, port } from '../../src/index.ts'
import { startPages, type Visitor } from './kit.ts'

const reader = defineWorker({
  class: 'reader',
  history: 5,
  retry: { max: 0 },
  in: { n: port(), same: port() },
  out: { same: port() },
  perform(job) {
    job.log(`says ${job.size('n')}`)
    if (job.size('n') > 0) throw new Error('not this one')
    return job.suspend()
  },
})

let pages: Awaited<ReturnType<typeof startPages>>
let visitor: Visitor
let id: number
let way: string

beforeAll(async () => {
  pages = await startPages({ workers: [reader] })
  await pages.engine.workers.register('default', 'pulled', { pull: true, in: { n: {}, same: {} }, out: { same: {} } })
  id = await pages.make('reader')
  await pages.rest(id)
  await pages.engine.ports.write(String(id), 'in', 'n', [encodeValue(1)])
  await pages.until(async () => (await pages.engine.jobs.get(String(id))).status === 'failed')
  way = `/ui/jobs/${id}`
  visitor = await pages.enter(['read', 'write'])
})
afterAll(() => pages.close())

const linkIn = (html: string, label: string): string => {
  const [, href] = new RegExp(`href="([^"]*)"[^>]*aria-label="${label}"`).exec(html) ?? []
  expect(href, label).toBeDefined()
  return href!.replaceAll('&amp;', '&')
}
const closed = (html: string): string => html.slice(html.indexOf('id="ports"'), html.indexOf('id="tabs"'))

test('a link opens a port with its values in lines and a form to write a value', async () => {
  const other = await pages.make('pulled', { alias: ['waits-for-values'] })
  for (let n = 1; n <= 12; n++) await pages.engine.ports.write(String(other), 'in', 'n', [encodeValue({ value: n })])
  const at = `/ui/jobs/${other}`
  const whole = closed(await visitor.html(at))
  expect(whole).not.toContain('class="opened"')
  expect(whole).toContain('7 more')
  const opened = await visitor.html(linkIn(whole, 'Open n, in'))
  const part = closed(opened)
  expect(part.match(/class="opened"/g)).toHaveLength(1)
  expect(part.match(/<li>/g)!.length).toBeGreaterThanOrEqual(12)
  expect(part).not.toContain('7 more')
  expect(part.match(/aria-label="Write: n, in"/g)).toHaveLength(1)
  expect(closed(await visitor.html(`${at}?port=n`)).match(/class="opened"/g)).toHaveLength(1)
  expect(closed(await visitor.html(`${at}?port=same`)).match(/class="opened"/g)).toHaveLength(2)
  expect(closed(await visitor.html(`${at}?port=out:same`)).match(/class="opened"/g)).toHaveLength(1)
  expect(closed(await visitor.html(`${at}?port=none`))).not.toContain('class="opened"')
  expect(closed(await visitor.html(linkIn(opened, 'Close n, in')))).not.toContain('class="opened"')
})

test('a run in the timeline links to its details, and the address opens the same run', async () => {
  const html = await visitor.html(way)
  const link = linkIn(html, 'Run 1')
  expect(link).toBe(`${way}?tab=runs&run=1#run`)
  for (const one of [link, `${way}?run=1`]) {
    const shown = await visitor.html(one)
    expect(shown).toMatch(/aria-label="Run 1"/)
    expect(shown).toMatch(/<dt>Committed<\/dt>/)
    expect(shown).toContain('says 0')
  }
  const [, log] = /href="([^"]*)"[^>]*>\s*Log /.exec(await visitor.html(`${way}?run=1`))!
  expect(log).toBe(`${way}#tabs`)
})

test('the log begins at the moment in the address, and the timeline marks this moment', async () => {
  const { runs } = await pages.engine.jobs.runs(String(id))
  const [last, first] = [runs[0]!, runs.at(-1)!]
  const errors = await visitor.html(`${way}?tab=runs`)
  const [, until] = /href="([^"]*)"[^>]*>\s*Open the log up to this error/.exec(errors)!
  expect(until).toContain(`at=${encodeURIComponent(new Date(last.endedAt).toISOString())}`)
  const early = new Date(first.startedAt - 60_000).toISOString()
  const [all, before] = [
    await visitor.html(`${way}?tab=log`),
    await visitor.html(`${way}?at=${encodeURIComponent(early)}`),
  ]
  expect(all).toContain('says 0')
  expect(all).not.toContain('Entries until ')
  expect(before).not.toContain('says 0')
  expect(before).toContain('Entries until ')
})

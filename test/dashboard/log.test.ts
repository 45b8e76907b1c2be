import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Encoded } from '../../src/core/codec/value.ts'
import { defineWorker } from '../../src/index.ts'
import { counted } from '../kit/counted.ts'
import { rawCommand } from '../kit/index.ts'
import { costOf } from '../redis/commandstats.ts'
import { startPages } from './kit.ts'

const says = defineWorker({ class: 'says', perform: (job) => job.log('said by a job') })
const keeps = defineWorker({
  class: 'keeps',
  history: 1,
  perform(job) {
    for (const word of ['one', 'two', 'three', 'four']) job.log(word)
  },
})

let pages: Awaited<ReturnType<typeof startPages>>
beforeAll(async () => {
  pages = await startPages({ workers: [says, keeps] })
  for (const text of ['Stripe said no', 'all is well', 'stripe said yes'])
    await pages.engine.log.write(JSON.stringify(text))
})
afterAll(() => pages.close())

test('entries are found by a text in any case, and from a moment', async () => {
  const { entries } = await pages.engine.log.read({ text: 'STRIPE' })
  expect(entries.map(({ entry }) => entry)).toEqual(['{"message":"stripe said yes"}', '{"message":"Stripe said no"}'])
  expect((await pages.engine.log.read({ since: entries[1]!.at })).entries).toHaveLength(3)
  expect(await pages.engine.log.read({ since: Date.now() + 60_000 })).toEqual({ entries: [], cursor: null })
})

test('the page of the log has a field for a text, and keeps the other filters', async () => {
  const reader = await pages.enter(['read'])
  const html = await reader.html('/ui/log?level=info&q=well')
  expect(html).toContain('all is well')
  expect(html).not.toContain('said no')
  expect(html).toContain('<input type="hidden" name="level" value="info"/>')
})

test('a link shows the entries since a moment, and one entry in full with the entries before it', async () => {
  const reader = await pages.enter(['read'])
  const { entries } = await pages.engine.log.read({})
  const [, well, no] = entries
  const since = await reader.html(`/ui/log?since=${new Date(well!.at).toISOString()}`)
  expect(since).toContain('all is well')
  expect(await reader.html('/ui/log?since=2999-01-01')).not.toContain('all is well')
  expect(await reader.html('/ui/log?since=6h')).toContain('Stripe said no')
  expect(await reader.html('/ui/log?since=soon')).toContain(
    'since: expected a duration such as 6h, or a time, got “soon”',
  )

  expect(since).toContain(`href="/ui/log?entry=${well!.id}"`)
  const one = await reader.html(`/ui/log?entry=${well!.id}`)
  const [, whole] = /id="entry".*?<pre[^>]*>(.*?)<\/pre>/s.exec(one)!
  expect(whole).toContain('all is well')
  expect(one).not.toContain('stripe said yes')
  expect(one).toContain(`id="e${no!.id}"`)
  expect(await reader.html('/ui/log?entry=1-1')).toContain('is no longer stored')
  expect((await reader.get('/ui/log?entry=oops')).status).toBe(200)
})

test('lines of errors showed {"reason":"other"} behind their message', async () => {
  const reader = await pages.enter(['read'])
  for (const reason of ['other', 'timeout'])
    await pages.engine.log.write(
      JSON.stringify({ level: 'error', error: `card declined: ${reason}`, reason }) as Encoded,
    )
  const html = await reader.html('/ui/log?q=declined')
  expect(html).toMatch(/card declined: other <\/span>/)
  expect(html).toContain('card declined: timeout <span class="dimmer">{&quot;reason&quot;:&quot;timeout&quot;}')
})

test('a line of the log keeps all digits, and hides values with secret names', async () => {
  await pages.engine.log.write('{"message":"paid","id":12345678901234567890,"card":{"token":"M4rk3r"}}' as Encoded)
  const html = await (await pages.enter(['read'])).html('/ui/log')
  expect(html).toContain('12345678901234567890')
  expect(html).not.toContain('M4rk3r')
})

test('entries name the class of their job, and the page filters by it', async () => {
  const id = await pages.make('says')
  await pages.rest(id)
  const { entries } = await pages.engine.log.read({ class: 'says' })
  expect(entries).toMatchObject([{ job: id, class: 'says', entry: '{"message":"said by a job"}' }])
  expect((await pages.engine.log.read({ text: 'stripe' })).entries.map((one) => one.class)).toEqual([null, null])
  expect((await pages.engine.log.read({ class: 'another' })).entries).toEqual([])
  const reader = await pages.enter(['read'])
  expect(await reader.html('/ui/log?class=says')).toContain('said by a job')
  expect(await reader.html('/ui/log')).toContain('<a class="link said" href="/ui/log?class=says">says</a>')
  expect(await reader.html('/ui/log?class=another')).not.toContain('said by a job')
})

counted('the log of an ended job is read from the range of its entries, independent of later entries', async () => {
  const id = await pages.make('says')
  await pages.rest(id)
  const later = Date.now() + 20_000
  const { port } = pages.redis
  for (let i = 0; i < 1_000; i++)
    await rawCommand(
      ...([port, 'XADD', pages.store.keys.log, `${later}-${i + 1}`, 'at', String(later)] as const),
      'job',
      '',
      'level',
      'info',
      'entry',
      '{"message":"later"}',
    )
  let found: unknown[] = []
  const cost = await costOf(pages, async () => {
    found = (await pages.engine.log.read({ job: String(id) })).entries
  })
  expect(found).toMatchObject([{ job: id }])
  expect(cost.commands.xrevrange).toBe(1)
  expect((await costOf(pages, () => pages.engine.log.read({ class: 'says' }))).commands.xrevrange).toBeGreaterThan(1)
})

counted(
  'a job with a history has its own log: entries of other jobs do not displace it, and a read touches nothing else',
  async () => {
    const id = await pages.make('keeps')
    await pages.rest(id)
    await rawCommand(pages.redis.port, 'DEL', pages.store.keys.log)
    const wordsOf = (entries: { entry: string }[]) =>
      entries.map(({ entry }) => JSON.parse(entry)).map(({ message, error }) => message ?? error)
    let found: Awaited<ReturnType<typeof pages.engine.log.read>> | undefined
    const cost = await costOf(pages, async () => {
      found = await pages.engine.log.read({ job: String(id) })
    })
    expect(cost.commands.xrevrange).toBe(1)
    expect(wordsOf(found!.entries)).toEqual(['four', 'three', 'two', 'one'])
    const first = await pages.engine.log.read({ job: String(id), limit: 2 })
    const rest = await pages.engine.log.read({ job: String(id), cursor: first.cursor! })
    expect([...wordsOf(first.entries), ...wordsOf(rest.entries)]).toEqual(['four', 'three', 'two', 'one'])
    expect((await pages.engine.log.read({ job: String(id), level: 'error' })).entries).toEqual([])
    expect(await (await pages.enter(['read'])).html(`/ui/jobs/${id}?tab=log`)).toContain('three')
  },
)

test('each message has one line with the number of its entries and the time of the oldest, and can be expanded', async () => {
  for (let n = 0; n < 5; n++) {
    await pages.engine.log.write('"the disk is full"')
    await pages.engine.log.write(`"the disk has room for ${n} files"`)
  }
  const [first] = (await pages.engine.log.read({ text: 'is full' })).entries.toReversed()
  const html = await (await pages.enter(['read'])).html('/ui/log')
  const since = new Date(first!.at).toISOString().slice(11, 23)
  expect(html).toContain(`<summary>4 more like this, since ${since}</summary>`)
  expect(html.match(/the disk is full/g)).toHaveLength(5)
  expect(html.match(/<summary>/g)).toHaveLength(1)
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineWorker } from '../../src/index.ts'
import { startPages, type Visitor } from './kit.ts'

const fails = defineWorker({
  class: 'fails',
  retry: { max: 0 },
  perform(job) {
    throw Object.assign(new Error(job.args as string), { stack: '' })
  },
})

const causes = ['no stock', 'timeout', 'bad address', 'declined', 'too old', 'closed', 'no route', 'unknown shop']

let pages: Awaited<ReturnType<typeof startPages>>
let reader: Visitor
beforeAll(async () => {
  pages = await startPages({ workers: [fails] })
  for (const cause of causes) await pages.rest(await pages.make('fails', { args: JSON.stringify(cause) }))
  reader = await pages.enter(['read'])
})
afterAll(() => pages.close())

async function shown(path: string): Promise<{ kinds: string[]; card: string }> {
  const card = /<section[^>]*kinds.*?<\/section>/s.exec(await reader.html(path))![0]
  return { kinds: causes.filter((cause) => card.includes(`>${cause}</a>`)), card }
}

test('a list with more than six kinds links to all of them', async () => {
  const some = await shown('/ui/jobs?status=failed')
  expect(some.kinds).toHaveLength(6)
  expect(some.card).toContain('href="/ui/jobs?status=failed&amp;kinds=all">All 8 kinds</a>')
  const all = await shown('/ui/jobs?status=failed&kinds=all')
  expect(all.kinds).toEqual(causes)
  expect(all.card).not.toContain('All 8 kinds')
})

test('the link to all kinds of a class led to the kinds of all classes', async () => {
  const { card } = await shown('/ui/jobs?status=failed&queue=default&class=fails')
  expect(card).toMatch(/href="\/ui\/jobs\?status=failed&amp;queue=default&amp;class=fails&amp;kinds=all">All 8 kinds</)
})

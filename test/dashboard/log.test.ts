// The log: filters by what an entry holds and by when it was written, in the API and on the page.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPages } from './kit.ts'

let pages: Awaited<ReturnType<typeof startPages>>
beforeAll(async () => {
  pages = await startPages()
  for (const text of ['Stripe said no', 'all is well', 'stripe said yes']) await pages.engine.log(JSON.stringify(text))
})
afterAll(() => pages.close())

test('entries are found by a text, whatever its case, and from a moment on', async () => {
  const { entries } = await pages.engine.readLog({ text: 'STRIPE' })
  expect(entries.map(({ entry }) => entry)).toEqual(['{"message":"stripe said yes"}', '{"message":"Stripe said no"}'])
  expect((await pages.engine.readLog({ since: entries[1]!.at })).entries).toHaveLength(3)
  expect(await pages.engine.readLog({ since: Date.now() + 60_000 })).toEqual({ entries: [], cursor: null })
})

test('the page of the log has a field for it, and keeps the other filters', async () => {
  const reader = await pages.enter(['read'])
  const html = await reader.html('/ui/log?level=info&text=well')
  expect(html).toContain('all is well')
  expect(html).not.toContain('said no')
  expect(html).toContain('<input type="hidden" name="level" value="info"/>')
})

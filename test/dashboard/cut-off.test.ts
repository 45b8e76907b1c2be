// If Cloudflare cuts off a request, its promises never settle, so other requests must not await them.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPages } from './kit.ts'

let isCutOff = false
const never = new Promise<never>(() => {})

let pages: Awaited<ReturnType<typeof startPages>>
beforeAll(async () => {
  pages = await startPages({}, ({ engine }) => {
    const { stats } = engine
    const glance: typeof stats.glance = (...asked) => (isCutOff ? never : stats.glance(...asked))
    return { engine: { ...engine, stats: { ...stats, glance } } }
  })
})
afterAll(() => pages.close())

test.each(['/ui', '/ui/queues'])('%s is shown after a request for it was cut off', async (path) => {
  const reader = await pages.enter(['read'])
  isCutOff = true
  void reader.get(path)
  await new Promise((resolve) => setTimeout(resolve, 100))
  isCutOff = false
  expect((await reader.get(path)).status).toBe(200)
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEngine } from '../../src/engine/index.ts'
import { defineWorker, type Job } from '../../src/index.ts'
import { startPages } from './kit.ts'

const order = defineWorker({
  class: 'order',
  pin: true,
  async perform(job: Job) {
    await job.sleep('1h')
  },
})

let pages: Awaited<ReturnType<typeof startPages>>
beforeAll(async () => {
  const gone = async () => new Response('gone', { status: 404 })
  pages = await startPages({ workers: [order], version: 'v2', versionUrl: 'https://v2.example.com', fetch: gone })
})
afterAll(() => pages.close())

test('the page of a job shows its version, and a note if this version does not answer', async () => {
  const own = { version: 'v1', versionUrl: 'https://v1.example.com' }
  // This address has no server, so no bell wakes v2 before v1 has run the job.
  const qstash = { ...pages.engineOptions.qstash, url: 'http://127.0.0.1:1' }
  const v1 = createEngine({ ...pages.engineOptions, ...own, qstash })
  const { jobs } = await v1.jobs.enqueue([{ queue: 'default', class: 'order' }])
  await v1.dispatch('default', '')
  const id = String(jobs[0]!.id)
  const reader = await pages.enter(['read'])
  expect(await reader.html(`/ui/jobs/${id}`)).toMatch(/<dt>Pinned to<\/dt><dd><span class="mono clip">v1<\/span>/)

  await pages.engine.jobs.run(id, {})
  await pages.until(async () => (await pages.engine.jobs.why(id)).reasons[0]?.code === 'VERSION')
  const shown = await reader.html(`/ui/jobs/${id}`)
  expect(shown).toContain('It is pinned to version v1, which does not respond.')
  expect(shown).toContain('version v1 at https://v1.example.com answered 404 gone. It tries again')
})

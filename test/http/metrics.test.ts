import { afterAll, beforeAll, expect, test } from 'vitest'
import { facades } from '../../src/facades/index.ts'
import { createApp } from '../../src/http/app.ts'
import { metrics } from '../../src/http/metrics.ts'
import { defineWorker } from '../../src/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

const counting = defineWorker({
  class: 'counting',
  limits: [{ key: 'two "at" once', concurrency: 2 }],
  perform: (job) => job.count('pages', 3),
})

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ workers: [counting] })
})
afterAll(() => kit.close())

const ask = (path: string, init: RequestInit = {}) =>
  createApp({ engine: kit.engine, facades, verify: async () => false, publicUrl: 'http://127.0.0.1' }).request(path, {
    headers: { authorization: 'Bearer dev' },
    ...init,
  })

test('the metrics have a line for each queue, event and limit', async () => {
  await kit.rest(await kit.make('counting'), 'completed')
  const answer = await ask('/metrics')
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4')
  const lines = (await answer.text()).trimEnd().split('\n')
  for (const line of lines)
    expect(line).toMatch(/^(# (HELP|TYPE) sidejob_\w+ .+|sidejob_\w+\{(\w+="(\\.|[^"\\])*",?)*\} -?[\d.e+]+)$/)
  expect(lines).toContain('sidejob_jobs{queue="default",status="completed"} 1')
  expect(lines).toContain('sidejob_events_total{queue="default",event="runs"} 1')
  expect(lines).toContain('sidejob_events_total{queue="default",event="pages"} 3')
  expect(lines).toContain('sidejob_wait_seconds_bucket{queue="default",le="+Inf"} 1')
  expect(lines).toContain('sidejob_wait_seconds_count{queue="default"} 1')
  expect(lines).toContain('sidejob_run_seconds_bucket{queue="default",class="counting",le="+Inf"} 1')
  expect(lines).toContain('sidejob_run_seconds_count{queue="default",class="counting"} 1')
  expect(lines).toContain('sidejob_limit_running{limit="two \\"at\\" once"} 0')
})

test('a bucket of a histogram includes the buckets before it', () => {
  const none = { queues: [], total: {}, waits: {}, classes: [], limits: [], groups: [] }
  const text = metrics({ ...none, waits: { q: [3, 0, 2, 0, 0, 0, 0, 0, 1] } })
  expect([...text.matchAll(/le="(.*?)"\} (\d+)/g)].map(([, end, n]) => `${end}: ${n}`)).toEqual([
    '0.01: 3',
    '0.1: 3',
    '1: 5',
    '5: 5',
    '30: 5',
    '60: 5',
    '600: 5',
    '3600: 5',
    '+Inf: 6',
  ])
  const took = { mean: 5, p50: 10, p95: 30, buckets: [2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4] }
  const runs = metrics({
    ...none,
    classes: [
      { queue: 'q', class: 'made', took: null },
      { queue: 'q', class: null, took },
    ],
  })
  expect(
    [...runs.matchAll(/q",class="(.*?)",le="(.*?)"\} (\d+)/g)].map(([, of, end, n]) => `${of} ${end}: ${n}`),
  ).toEqual([
    ' 0.01: 2',
    ' 0.03: 3',
    ' 0.1: 3',
    ' 0.3: 3',
    ' 1: 3',
    ' 3: 3',
    ' 10: 3',
    ' 30: 3',
    ' 100: 3',
    ' 600: 3',
    ' 3600: 3',
    ' +Inf: 7',
  ])
})

test('names are escaped within their quotes', () => {
  const text = metrics({ queues: [], total: { 'a"\\\n': { runs: 1 } }, waits: {}, classes: [], limits: [], groups: [] })
  expect(text.split('\n')[2]).toBe('sidejob_events_total{queue="a\\"\\\\\\n",event="runs"} 1')
})

test('the error for a wrong method lists the allowed methods', async () => {
  const answer = await ask('/v1/jobs', { method: 'PUT' })
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, POST'])
  expect(await answer.json()).toEqual({
    error: {
      code: 'WRONG_METHOD',
      message: '/v1/jobs accepts GET, POST, got PUT',
      doc_url: expect.stringContaining('/docs/errors#WRONG_METHOD'),
    },
  })
  const facade = await ask('/jq/jobs', { method: 'PUT' })
  expect([facade.status, facade.headers.get('allow')]).toEqual([405, 'POST'])
  expect((await ask('/v1/nothing')).headers.get('allow')).toBeNull()
})

// Creates the test data. Its names have no digits, because the test treats each digit on a page as part of a number.

import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { flow } from '../../../functions/flow.ts'
import { keyOf } from '../../../src/core/files.ts'
import { createEngine } from '../../../src/engine/index.ts'
import { createFiles } from '../../../src/files.ts'
import { defineWorker } from '../../../src/index.ts'
import { drain } from '../../../src/testing/index.ts'
import { folderBucket } from '../../kit/folder-bucket.ts'
import { startReceiver } from '../../kit/receiver.ts'
import { KEY, ORIGIN } from '../kit.ts'
import type { openPast } from '../many-ended.ts'
import { type Call, callerOf, worker } from '../seed.ts'
import { seedFlow } from '../seed-flow.ts'
import { serve } from '../served.ts'

const AT_ONCE = 1_000
const FILE = new TextEncoder().encode('a file')
const HOUR = 3_600_000

const charge = defineWorker({
  class: 'charge',
  retry: { max: 0 },
  perform(job) {
    job.log({ message: 'charged', level: 'info' })
    if (typeof job.args === 'string') throw Object.assign(new Error(job.args), { stack: '' })
  },
})

const refund = defineWorker({
  class: 'refund',
  retry: { max: 0 },
  perform() {
    throw Object.assign(new Error('bank is closed'), { stack: '' })
  },
})

const pull = (queue: string, name: string, about: object = {}) => [queue, name, { pull: true, ...about }] as const

const classes = [
  pull('many', 'waits'),
  pull('media', 'resize', { in: { url: {} }, out: { done: {} } }),
  pull('store', 'order', {
    history: 20,
    in: { note: { channels: ['/shop/notes'] }, cancel: { channels: ['/shop/notes', '/shop/cancel'] } },
    out: { receipt: { channels: ['/shop/receipts'] } },
  }),
  pull('store', 'parcel', { concurrency: 2 }),
  pull('store', 'crawl'),
  pull('store', 'report', { retry: { max: 3, backoff: { base: '1h' } } }),
  pull('mail', 'digest'),
  pull('files', 'reap'),
]

const times = <One>(n: number, one: (i: number) => One): One[] => Array.from({ length: n }, (_, i) => one(i))

async function limits(call: Call): Promise<void> {
  await call('PUT', '/v1/limits/bank', { concurrency: 20, rate: { limit: 500, period: '1h' } })
  await call('PUT', '/v1/constraints/hosts', { match: { class: 'crawl' }, concurrency: 1, groupBy: 'host' })
}

type Made = { jobs: { id: number }[] }

async function store(call: Call) {
  const { claim, commit } = worker(call, 'store')
  const make = async (name: string, n: number, about: (i: number) => object = () => ({})) =>
    (
      (await call(
        'POST',
        '/v1/jobs',
        times(n, (i) => ({ queue: 'store', class: name, ...about(i) })),
      )) as unknown as Made
    ).jobs
  await make('order', 9, (i) => ({ group: { id: i % 3 ? 'north' : 'south' }, labels: { shop: 'oslo' } }))
  await call('PATCH', '/v1/groups/north', { concurrency: 3 })
  const [first] = await claim('order', 3, '1h', 'till')
  await commit(first!, {
    ops: [
      ...times(4, () => ({ op: 'log', entry: { message: 'packed', level: 'warn' } })),
      { op: 'write', to: { out: 'receipt' }, values: [41, 42] },
      { op: 'spawn', queue: 'store', class: 'parcel', name: 'parcel' },
      { op: 'spawn', queue: 'store', class: 'crawl', name: 'crawl', args: { host: 'fjord' } },
    ],
    end: 'suspended',
    waitFor: 'children',
  })
  const id = first!.job.id
  await call('POST', `/v1/jobs/${id}/in/note`, { values: times(7, (i) => `ring ${i + 2} times`), notify: false })
  await make('parcel', 7, (i) => ({ group: { id: i % 2 ? 'north' : 'west' } }))
  await claim('parcel', 2, '1h', 'truck')
  await make('crawl', 5, (i) => ({ args: { host: i % 2 ? 'fjord' : 'bay' } }))
  const [running] = await claim('crawl', 2, '1h', 'spider')
  await make('order', 4, () => ({ wait: '2h' }))
  await make('report', 3)
  const reports = await claim('report', 2)
  for (const run of reports) await commit(run, { end: 'failed', error: { message: 'no paper' } })
  const [ended] = await make('order', 2)
  await call('POST', `/v1/jobs/${ended!.id}/terminate`, {})
  return { order: id, running: running!.job.id, report: reports[0]!.job.id }
}

async function callbacks(call: Call, url: string): Promise<void> {
  const to = [
    ...times(3, () => ({ url: `${url}/taken` })),
    ...times(2, () => ({ url: `${url}/gone` })),
    { url: `${url}/later`, retry: [3_600] },
  ]
  const { claim, commit } = worker(call, 'media')
  for (const callback of to) await call('POST', '/v1/jobs', { queue: 'media', class: 'resize', callback })
  for (const run of await claim('resize', to.length)) await commit(run, { end: 'completed' })
}

async function rest(call: Call): Promise<void> {
  await call('PATCH', '/v1/queues/mail', { paused: true })
  await call('POST', '/v1/jobs', [
    ...times(5, () => ({ queue: 'mail', class: 'digest' })),
    ...times(2, () => ({ queue: 'mail', class: 'digest', wait: '3h' })),
  ])
  for (const name of ['nightly', 'weekly', 'yearly'])
    await call('PUT', `/v1/schedules/${name}`, { class: 'digest', queue: 'mail', repeat: { cron: '0 3 * * *' } })
  await call('POST', '/v1/schedules/weekly/pause', {})
  for (const channel of ['/shop/till', '/shop/stock'])
    for (const message of ['open', 'shut']) await call('POST', '/v1/publish', { channel, message, keep: 1 })
  for (const name of ['ann', 'bob']) await call('POST', '/v1/keys', { name, scopes: ['read', 'admin'] })
  for (let i = 0; i < 130; i++)
    await call('POST', '/v1/log', { entry: { message: 'tick', level: i % 10 ? 'info' : 'error' } })
  await call('PUT', '/v1/views/orders', { query: 'class=order' })
}

const until = async (fact: () => Promise<boolean>): Promise<void> => {
  for (let tries = 0; tries < 1_500; tries++) {
    if (await fact()) return
    await new Promise((resolve) => setTimeout(resolve, 40))
  }
  throw new Error(`not true after a minute: ${fact}`)
}

export type Scene = Awaited<ReturnType<typeof startScene>>

export async function startScene(folder: string, past: ReturnType<typeof openPast>, size: number) {
  const receiver = await startReceiver(({ path }, response) =>
    response.writeHead({ '/gone': 410, '/later': 503 }[path] ?? 200).end(),
  )
  const bucket = folderBucket(mkdtempSync(join(folder, 'files-')))
  const files = createFiles({ bucket, secret: 'files of the test', publicUrl: ORIGIN, now: Date.now })
  const site = await serve(
    { workers: [charge, refund, flow], historyStore: { store: past.store }, version: 'alpha' },
    () => ({
      downloads: { files, allowHosts: [], keep: HOUR },
    }),
  )
  const call = callerOf(site.url, KEY)
  const { engine } = site
  await engine.history.begin()
  await engine.tick()
  for (const [queue, name, definition] of classes) await call('PUT', `/v1/workers/${queue}/${name}`, definition)
  await limits(call)
  const failing = ['card declined', 'no stock', 'bad address']
  const charged = times(16, (i) => ({
    queue: 'default',
    class: 'charge',
    group: { id: 'east' },
    ...(i % 4 < 3 && { args: failing[i % 3] }),
  }))
  const { jobs: ends } = (await call('POST', '/v1/jobs', charged)) as unknown as Made
  for (const { id } of ends) await site.rest(id)
  const stored = await store(call)
  const graph = await seedFlow(call)
  await callbacks(call, receiver.url)
  await until(async () => {
    const counts = await engine.callbacks.counts()
    return counts.FAILED === 2 && counts.DELIVERED === 3
  })
  await rest(call)
  const newer = createEngine({ ...site.engineOptions, workers: [refund], version: 'beta' })
  await newer.tick()
  const { jobs: refunds } = await newer.jobs.enqueue(times(6, () => ({ queue: 'default', class: 'refund' })) as never)
  await drain(newer, { errors: 'keep' })
  for (const { id } of refunds) await site.rest(id)
  const ids = await Promise.all([1, 2, 3].map((job) => files.idOf(job, Date.now())))
  for (const id of ids) await bucket.put(keyOf(id), FILE, { type: 'text/plain' })
  for (const file of ids.slice(1))
    await call('POST', '/v1/jobs', { queue: 'files', class: 'reap', args: { file }, wait: '5h' })
  const jobs = times(AT_ONCE, () => ({ queue: 'many', class: 'waits' }))
  for (let i = 0; i < size / AT_ONCE; i++) await engine.jobs.enqueue(jobs as never)
  await engine.history.drain()
  return {
    site,
    call,
    ...stored,
    flow: graph,
    kept: ids[0]!,
    failed: ends[0]!.id,
    receiver,
    close: () => receiver.close().then(site.close),
  }
}

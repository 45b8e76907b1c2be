import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { readTraceparent } from '../../src/core/trace.ts'
import type { TraceOptions } from '../../src/engine/index.ts'
import { defineWorker } from '../../src/index.ts'
import { type Kit, startKit } from '../kit/index.ts'
import { type Receiver, startReceiver } from '../kit/receiver.ts'
import { otlpRequest, type SentSpan } from './otlp.ts'

const HOUR = 3_600_000
const CALLER = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

let collector: Receiver
let world: Receiver
let kit: Kit

const spans = (): SentSpan[] =>
  collector.came.flatMap(({ path, body }) => {
    expect(path).toBe('/v1/traces')
    return otlpRequest.parse(JSON.parse(body)).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans[0]!.spans)
  })

function treeOf(traceId: string, root: string | undefined): string[] {
  const all = spans().filter((span) => span.traceId === traceId)
  const below = (parent: string | undefined, depth: number): string[] =>
    all
      .filter((span) => span.parentSpanId === parent)
      .sort((a, b) => Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)))
      .flatMap(({ name, spanId }) => [`${'  '.repeat(depth)}${name}`, ...below(spanId, depth + 1)])
  const tree = below(root, 0)
  expect(tree).toHaveLength(all.length)
  expect(new Set(all.map(({ spanId }) => spanId)).size).toBe(all.length)
  return tree
}

const packed = defineWorker({ class: 'pack', perform: (job) => void job.log('packed') })
const order = defineWorker({
  class: 'order',
  async perform(job) {
    await job.step('reserve', () => job.span('ask the store', () => fetch(`${world.url}/store`)))
    await job.callWorker(packed)
    await job.callWorker('ship')
  },
})
const fails = defineWorker({
  class: 'fails',
  retry: { max: 1, backoff: { base: 1 } },
  perform() {
    throw new Error('the printer is out of paper')
  },
})
const sleeps = defineWorker({ class: 'sleeps', perform: (job) => job.sleep('30 days') })
const hourly = defineWorker({
  class: 'hourly',
  perform: (job) => void job.spawn(`pack ${job.scheduledFor!.getTime()}`, packed),
})
const tells = defineWorker({ class: 'tells', perform: (job) => job.publish('/news', 'paper') })
const hears = defineWorker({
  class: 'hears',
  in: { news: { channels: ['/news'] } },
  perform: async (job) => ((await job.read('news')) === undefined ? job.suspend() : undefined),
})
const recorded = defineWorker({
  class: 'recorded',
  history: { values: true },
  async perform(job) {
    await job.step('pick', () => 1)
    return { sent: job.traceparent }
  },
})
const forwards = defineWorker({ class: 'forwards', perform: (job) => ({ sent: job.traceparent }) })

beforeAll(async () => {
  collector = await startReceiver((_, response) => response.end('{}'))
  world = await startReceiver((_, response) => response.end())
  kit = await startKit({
    workers: [packed, order, fails, sleeps, hourly, tells, hears, recorded, forwards],
    traces: { endpoint: collector.url, headers: { 'x-key': 'secret' }, service: 'shop' },
  })
  await kit.engine.workers.register('default', 'ship', { push: { url: `${world.url}/ship` } })
})
beforeEach(() => {
  collector.came.length = 0
  world.came.length = 0
})
afterAll(async () => {
  await kit.close()
  await Promise.all([collector.close(), world.close()])
})

/** Advances the clock, because a job whose claim was lost runs again after its lease. */
async function eventually(fact: () => boolean): Promise<void> {
  for (let second = 0; second < 20; second++) {
    const isTrue = await kit.until(fact, 1_000).then(
      () => true,
      () => false,
    )
    if (isTrue) return
    await kit.advance(60_000)
    await kit.engine.tick().catch(() => undefined)
  }
  expect(fact()).toBe(true)
}

/** Loses 15% of the answers of Redis. Loses no request three times, because this would lose the run. */
function loseAnswers(): void {
  const lost = new Map<string, number>()
  kit.gateway.faults.drop({
    times: Number.POSITIVE_INFINITY,
    when(commands) {
      const request = JSON.stringify(commands)
      const before = lost.get(request) ?? 0
      if (before === 2 || Math.random() >= 0.15) return false
      lost.set(request, before + 1)
      return true
    },
  })
}

const ordered = async (traceparent?: string): Promise<number> => {
  const input = { queue: 'default', class: 'order', callback: { url: `${world.url}/done` } }
  const { jobs } = await kit.engine.jobs.enqueue([input as never], traceparent ? { traceparent } : undefined)
  await eventually(() => world.came.some(({ path }) => path === '/done'))
  return jobs[0]!.id
}

const WHOLE = [
  'queue order',
  '  run order',
  '    step reserve',
  '    ask the store',
  '  queue pack',
  '    run pack',
  '  run order',
  '  queue ship',
  '    run ship',
  `      POST 127.0.0.1`,
  '  run order',
  '  queue callback',
  '    run callback',
  '      POST 127.0.0.1',
]
const withoutPorts = (tree: string[]) => tree.map((line) => line.replace(/127\.0\.0\.1:\d+/, '127.0.0.1'))

test('a job, its children, a push worker and a callback are one tree below the caller', async () => {
  await ordered(CALLER)
  const { traceId, spanId } = readTraceparent(CALLER)!
  await kit.until(() => spans().filter((span) => span.traceId === traceId).length >= WHOLE.length)
  expect(withoutPorts(treeOf(traceId, spanId))).toEqual(WHOLE)
  const [ship, done] = ['/ship', '/done'].map((path) => world.came.find((came) => came.path === path)!.headers)
  const posts = spans().filter(({ name }) => name.startsWith('POST'))
  expect([ship, done].map((headers) => headers!.traceparent)).toEqual(
    posts.map((one) => `00-${traceId}-${one.spanId}-01`),
  )
  expect(collector.came[0]!.headers['x-key']).toBe('secret')
})

test('without a caller, the trace derives from the root, and needs no data in Redis', async () => {
  const id = await ordered()
  await kit.until(() => spans().filter(({ name }) => name.startsWith('POST')).length === 2)
  const [root] = spans().filter(({ name }) => name === 'queue order')
  expect(withoutPorts(treeOf(root!.traceId, undefined))).toEqual(WHOLE)
  expect((await kit.store.inspect(String(id))).document).not.toHaveProperty('traceparent')
})

test('the tree is whole and no span is doubled if Redis loses answers', async () => {
  loseAnswers()
  try {
    for (let i = 0; i < 4; i++) {
      world.came.length = 0
      await ordered()
    }
  } finally {
    kit.gateway.faults.clear()
  }
  const rootsIn = () => spans().filter(({ name }) => name === 'queue order')
  await eventually(() => rootsIn().length >= 4)
  const roots = rootsIn()
  expect(roots).toHaveLength(4)
  const ids = new Set(roots.map(({ traceId }) => traceId))
  await eventually(() => spans().filter(({ traceId }) => ids.has(traceId)).length === 4 * WHOLE.length)
  for (const { traceId } of roots) expect(withoutPorts(treeOf(traceId, undefined))).toEqual(WHOLE)
})

test('a failed run has its error, and a retry is a second run of the trace', async () => {
  const id = await kit.make('fails')
  await kit.until(() => spans().some(({ name }) => name === 'run fails'))
  await kit.advance(HOUR)
  await kit.engine.tick()
  await kit.rest(id, 'failed')
  await kit.until(() => spans().filter(({ name }) => name === 'run fails').length === 2)
  const [first, second] = spans().filter(({ name }) => name === 'run fails')
  expect(first).toMatchObject({ status: { code: 2, message: 'the printer is out of paper' }, traceId: second!.traceId })
  expect(first!.events![0]).toMatchObject({ name: 'exception' })
  expect(treeOf(first!.traceId, undefined)).toEqual(['queue fails', '  run fails', '  run fails'])
})

test('a wait of 30 days is two short runs of one trace', async () => {
  const id = await kit.make('sleeps')
  await kit.until(() => spans().some(({ name }) => name === 'run sleeps'))
  await kit.advance(30 * 24 * HOUR + 1_000)
  await kit.engine.tick()
  await kit.rest(id, 'completed')
  await kit.until(() => spans().filter(({ name }) => name === 'run sleeps').length === 2)
  const all = spans().filter(({ name }) => name.endsWith('sleeps'))
  expect(new Set(all.map(({ traceId }) => traceId)).size).toBe(1)
  for (const span of all) expect(Number(span.endTimeUnixNano) - Number(span.startTimeUnixNano)).toBeLessThan(60e9)
})

test('each slot of a schedule is a trace of its own, with the children of its run', async () => {
  const id = await kit.make('hourly', { repeat: { cron: '0 * * * *' } })
  for (let i = 0; i < 2; i++) {
    const { nextAt } = await kit.engine.schedules.get(String(id))
    await kit.advance(nextAt! - kit.now() + 500)
    await kit.engine.tick()
    await kit.until(() => spans().filter(({ name }) => name === 'run pack').length === i + 1)
  }
  const traces = [...new Set(spans().flatMap(({ name, traceId }) => (name === 'queue hourly' ? [traceId] : [])))]
  const trees = traces.map((traceId) => treeOf(traceId, undefined))
  const slots = trees.filter((tree) => tree.length > 2)
  expect(slots).toEqual(Array(2).fill(['queue hourly', '  run hourly', '  queue pack', '    run pack']))
  await kit.engine.jobs.terminate(String(id), {})
})

test('a lane links to its runs', async () => {
  const id = await kit.make('pack')
  await kit.rest(id, 'completed')
  await kit.until(() => spans().some(({ name }) => name === 'lane default'))
  const run = spans().find(({ name }) => name === 'run pack')!
  const links = spans().flatMap(({ name, links = [] }) => (name === 'lane default' ? links : []))
  expect(links).toContainEqual({ traceId: run.traceId, spanId: run.spanId })
})

test('a run links to the runs that wrote the values it read, over wires and channels', async () => {
  const [tells, hears] = [await kit.make('hears'), await kit.make('tells')].reverse()
  await kit.rest(tells!, 'completed')
  await kit.rest(hears!, 'completed')
  await kit.until(() => spans().some(({ name, links = [] }) => name === 'run hears' && links.length > 0))
  const writer = spans().find(({ name }) => name === 'run tells')!
  const reader = spans().findLast(({ name }) => name === 'run hears')!
  expect(reader.links).toEqual([{ traceId: writer.traceId, spanId: writer.spanId }])
})

test('a function can forward its trace; a trace that the caller does not sample is forwarded and not sent', async () => {
  const unsampled = CALLER.replace(/01$/, '00')
  const { jobs } = await kit.engine.jobs.enqueue([{ queue: 'default', class: 'forwards' } as never])
  await kit.rest(jobs[0]!.id, 'completed')
  const ended = await kit.engine.jobs.result(String(jobs[0]!.id), {})
  await kit.until(() => spans().some(({ name }) => name === 'run forwards'))
  const run = spans().find(({ name }) => name === 'run forwards')!
  expect(JSON.stringify(ended)).toContain(`00-${run.traceId}-${run.spanId}-01`)
  collector.came.length = 0
  await ordered(unsampled)
  expect(world.came.find(({ path }) => path === '/ship')!.headers.traceparent).toBe(unsampled)
  expect(world.came.find(({ path }) => path === '/done')!.headers.traceparent).toBe(unsampled)
  expect(spans().filter(({ traceId }) => traceId === readTraceparent(unsampled)!.traceId)).toEqual([])
})

test('a function whose runs are recorded has its steps in the trace, and can forward it', async () => {
  const id = await kit.make('recorded', { keepResult: true })
  await kit.rest(id, 'completed')
  await kit.until(() => spans().some(({ name }) => name === 'run recorded'))
  const run = spans().find(({ name }) => name === 'run recorded')!
  expect(spans().find(({ name }) => name === 'step pick')).toMatchObject({ parentSpanId: run.spanId })
  expect(JSON.stringify(await kit.engine.jobs.result(String(id), {}))).toContain(`00-${run.traceId}-${run.spanId}-01`)
})

async function performed(jobs: number, traces: TraceOptions): Promise<Kit> {
  const held = await startKit({ hold: true, workers: [packed], traces })
  for (let i = 0; i < jobs; i++) await held.make('pack')
  await held.engine.dispatch('default', 'x')
  return held
}

test('sampling keeps or drops whole traces', async () => {
  const held = await performed(40, { endpoint: collector.url, sample: 0.5 })
  await kit.until(() => spans().some(({ name }) => name === 'lane default'))
  const count = (name: string) => spans().filter((span) => span.name === name).length
  expect(count('run pack')).toBe(count('queue pack'))
  expect(count('run pack')).toBeGreaterThan(5)
  expect(count('run pack')).toBeLessThan(35)
  await held.close()
})

test('a failing receiver delays no job, and is called again after a minute', async () => {
  const broken = await startReceiver((_, response) => response.writeHead(500).end())
  const said = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const held = await performed(1, { endpoint: broken.url })
  try {
    expect(await held.statusOf(1)).toBe('completed')
    await kit.until(() => said.mock.calls.length > 0)
    await held.make('pack')
    await held.engine.dispatch('default', 'x')
    expect(await held.statusOf(2)).toBe('completed')
    expect(broken.came).toHaveLength(1)
    expect(said.mock.calls).toEqual([[expect.stringMatching(/^traces: .* answered 500\. \d spans were dropped/)]])
    await held.advance(61_000)
    await held.make('pack')
    await held.engine.dispatch('default', 'x')
    await kit.until(() => broken.came.length === 2)
  } finally {
    said.mockRestore()
    await held.close()
    await broken.close()
  }
})

import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { flow } from '../../functions/flow.ts'
import { encodeValue } from '../../src/core/codec/value.ts'
import { costs as most } from '../../src/dashboard/costs.ts'
import { pages as table } from '../../src/dashboard/pages/index.ts'
import { defineWorker } from '../../src/index.ts'
import { counted } from '../kit/counted.ts'
import { startReceiver } from '../kit/receiver.ts'
import { costOf } from '../redis/commandstats.ts'
import { startPages, type Visitor } from './kit.ts'
import { fails, waits } from './seed-jobs.ts'

const FLOW = 4

const family = defineWorker({
  class: 'family',
  perform(job) {
    const left = job.args as number
    const names = left > 0 ? ['a', 'b', 'c'] : ['slow']
    for (const name of job.children[names[0]!] ? [] : names)
      job.spawn(name, { class: left > 0 ? 'family' : 'pulled' }, { args: left - 1 })
    return job.suspend({ waitFor: 'children' })
  },
})

async function startFamily() {
  const grown = await startPages({ workers: [family] })
  await grown.engine.workers.register('default', 'pulled', { pull: true, concurrency: 1 })
  await grown.make('pulled')
  await grown.engine.runs.claim('default', { names: ['pulled'], lease: 3_600_000 })
  const root = await grown.make('family', { args: encodeValue(2), history: 5 })
  for (let runs = 1; runs <= 4; runs++) {
    await grown.until(async () => (await grown.engine.jobs.runs(String(root))).runs.length === runs)
    if (runs < 4) await grown.engine.jobs.run(String(root), {})
  }
  await grown.until(async () => (await grown.engine.jobs.why(String(root), { deep: 3 })).chain?.length === 3)
  return { grown, root, visitor: await grown.enter(['admin']) }
}

let pages: Awaited<ReturnType<typeof startPages>>
let reader: Visitor
const ask = globalThis.fetch

beforeAll(async () => {
  pages = await startPages({ workers: [waits, fails, flow] })
  await pages.engine.workers.register('default', 'pulled', { pull: true, concurrency: 1 })
  await pages.engine.limits.set('stripe', { concurrency: 2 })
  for (const name of ['waits', 'waits', 'fails']) await pages.rest(await pages.make(name))
  await pages.engine.channels.publish('/kept', '1', { keep: 1 })
  expect(await pages.make('flow', { queue: 'core', args: encodeValue({ graph: {} }) })).toBe(FLOW)
  await pages.rest(FLOW)
  for (const n of [1, 2, 3]) await pages.engine.ports.write('1', 'in', 'n', [encodeValue(n)])
  await pages.rest(1)
  for (let i = 0; i < 3; i++) await pages.make('pulled')
  await pages.engine.runs.claim('default', { names: ['pulled'], lease: 3_600_000 })
  reader = await pages.enter(['admin'])
})
afterEach(() => {
  globalThis.fetch = ask
})
afterAll(() => pages.close())

/** Concurrent requests count as one round trip. */
function countTrips(): () => number {
  let [done, most] = [0, 0]
  globalThis.fetch = async (...args) => {
    const trip = done + 1
    most = Math.max(most, trip)
    const answer = await ask(...args)
    done = Math.max(done, trip)
    return answer
  }
  return () => most
}

type Cost = { trips: number; commands: number }

/** Stops the clock at `moment`, so that cached answers do not expire. */
async function look(path: string, of = pages, by = reader, moment = Date.now()): Promise<Cost> {
  const trips = countTrips()
  const { billed } = await costOf(of, async () => {
    const clock = vi.spyOn(Date, 'now').mockReturnValue(moment)
    const { status } = await by.get(`/ui${path}`).finally(() => clock.mockRestore())
    expect(status).toBe(200)
  })
  globalThis.fetch = ask
  return { trips: trips(), commands: billed }
}

async function looks(path: string, of = pages, by = reader): Promise<{ first: Cost; next: Cost }> {
  const moment = Date.now()
  // This call is not measured: the first call of a script sends its source, and costs more.
  await look(path, of, by, moment)
  of.forget()
  const first = await look(path, of, by, moment)
  return { first, next: await look(path, of, by, moment) }
}

const pulled = (n: number) => ({ queue: 'default', class: 'pulled', args: encodeValue({ n }) })

const pathOf = (path: string): string =>
  path
    .replace('/flows/:job', `/flows/${FLOW}`)
    .replace(':job', '1')
    .replace(':queue', 'default')
    .replace(':class', 'waits')
    .replace(':id', 'shop-7')

function expectWithin(path: string, { first, next }: { first: Cost; next: Cost }) {
  expect(Object.keys(most), 'the table of what pages cost has a line for each').toContain(path)
  const [trips, look, cold] = most[path]!
  expect.soft(Math.max(first.trips, next.trips), 'round trips').toBeLessThanOrEqual(trips)
  expect.soft(next.commands, 'commands of a look').toBeLessThanOrEqual(look)
  expect.soft(first.commands, 'commands of the first look').toBeLessThanOrEqual(cold)
}

counted.each(table.map(({ path }) => path))('%s costs a bounded number of round trips and commands', async (path) =>
  expectWithin(path, await looks(pathOf(path))),
)

counted('the page of a job with children and a chain of three jobs to a limit costs no more than stated', async () => {
  const { grown, root, visitor } = await startFamily()
  const seen = await looks(`/jobs/${root}`, grown, visitor)
  expectWithin('/jobs/:job', seen)
  expect([seen.next.commands, seen.first.commands]).toEqual([8, most['/jobs/:job']![2]])
  expect(Object.keys((await grown.engine.jobs.get(String(root))).children)).toHaveLength(3)
  expect(seen.first.commands).toBeLessThanOrEqual(30)
  await grown.close()
})

counted('the page of a job shows the chain of blocking jobs, and changes of the chain within ten seconds', async () => {
  const { grown, root, visitor } = await startFamily()
  const why = async () => /<ol class="why[\s\S]*?<\/ol>/.exec(await visitor.html(`/ui/jobs/${root}`))![0]
  const children = Object.values((await grown.engine.jobs.get(String(root))).children)
  const [first, second] = children.sort((a, b) => a.id - b.id)
  expect(await why()).toContain(`/jobs/${first!.id}">`)
  expect(await why()).toContain(`/jobs/${first!.id}">`)
  await grown.engine.jobs.terminate(String(first!.id), { recursive: true })
  expect(await why()).not.toContain(`/jobs/${first!.id}">`)
  expect(await why()).toContain(`/jobs/${second!.id}">`)
  await grown.close()
})

counted(
  'the first view of a failed job costs at most 24 commands, and later views cost as much as views of other jobs',
  async () => {
    const { jobs } = await pages.engine.jobs.list({ status: 'failed' })
    const { first, next } = await looks(`/jobs/${jobs[0]!.id}`)
    expect(first.commands).toBeLessThanOrEqual(24)
    expect(next.commands).toBeLessThanOrEqual(most['/jobs/:job']![1])
  },
)

counted('the page of a completed job shows its result, and costs no more than the page of another job', async () => {
  const done = await startPages({ workers: [defineWorker({ class: 'done', perform: () => 'sent to kim' })] })
  const visitor = await done.enter(['read'])
  const id = await done.make('done')
  await done.rest(id)
  expect(await visitor.html(`/ui/jobs/${id}`)).toContain('sent to kim')
  expectWithin('/jobs/:job', await looks(`/jobs/${id}`, done, visitor))
  await done.close()
})

counted('the first view of Overview costs 12 commands if no job has failed and no job waits at a limit', async () => {
  const healthy = await startPages({ workers: [waits] })
  const visitor = await healthy.enter(['read'])
  for (const name of ['waits', 'waits']) await healthy.rest(await healthy.make(name))
  await healthy.engine.limits.set('stripe', { concurrency: 2 })
  for (const queue of ['media', 'mail', 'maps', 'music', 'money']) {
    await healthy.engine.workers.register(queue, 'pulled', { pull: true })
    for (let n = 0; n < 2; n++) await healthy.make('pulled', { queue })
    await healthy.engine.runs.claim(queue, { names: ['pulled'], lease: 3_600_000, max: 1 })
  }
  const { first } = await looks('/', healthy, visitor)
  expect(first.commands).toBeLessThanOrEqual(12)
  await healthy.close()
})

counted(
  'the first view of Overview costs at most 13 commands, even if jobs wait at many limits, one of them paused',
  async () => {
    const busy = await startPages({ workers: [waits] })
    const visitor = await busy.enter(['read'])
    await busy.rest(await busy.make('waits'))
    const classes = Array.from({ length: 12 }, (_, n) => `pulled-${n}`)
    for (const name of classes) {
      await busy.engine.workers.register('shop', name, { pull: true, concurrency: 1 })
      for (let i = 0; i < 3; i++) await busy.make(name, { queue: 'shop' })
    }
    await busy.engine.limits.set('worker:shop/pulled-0', { concurrency: 1, paused: true })
    await busy.engine.runs.claim('shop', { names: classes, lease: 3_600_000, max: 40 })
    const { limits } = await busy.engine.stats.glance()
    expect(limits.map(({ running, waiting }) => [running, waiting]).sort()).toEqual([[0, 3], ...Array(11).fill([1, 2])])
    const { first } = await looks('/', busy, visitor)
    expect(first.commands).toBeLessThanOrEqual(13)
    await busy.close()
  },
)

counted('Overview first said “All quiet”, and showed failed jobs and schedules seconds later', async () => {
  const nightly = { queue: 'default', class: 'fails', repeat: { cron: '0 0 1 1 *' } }
  for (const isScheduled of [false, true]) {
    if (isScheduled) await pages.engine.schedules.set('nightly', nightly as never)
    expectWithin('/', await looks('/'))
    pages.forget()
    expect(await reader.html('/ui/')).toContain('Kinds of error')
  }
  await pages.engine.schedules.end('nightly')
})

counted('a keystroke in the palette costs 4 commands, and up to 20 more if the palette searches 500 jobs', async () => {
  const many = await startPages({ workers: [waits] })
  const visitor = await many.enter(['read'])
  const keystroke = async (text: string) => (await looks(`/find?list&q=${text}`, many, visitor)).next
  await many.rest(await many.make('waits'))
  expect([await keystroke('sh'), await keystroke('shop')]).toEqual([
    { trips: 1, commands: 4 },
    { trips: 1, commands: 8 },
  ])
  await many.engine.workers.register('default', 'pulled', { pull: true })
  for (let i = 0; i < 60; i++) await many.engine.jobs.enqueue(Array.from({ length: 10 }, () => pulled(i)))
  const { trips, commands } = await keystroke('shop')
  expect(trips).toBe(2)
  expect(commands).toBeGreaterThan(8)
  expect(commands).toBeLessThanOrEqual(24)
  expect(await visitor.html('/ui/find?list&q=shop')).toContain('searched the newest 500 of 601')
  await many.close()
})

counted('the docs did not count the newest callbacks, which a search reads', async () => {
  const docs = readFileSync(new URL('../../docs/dashboard.md', import.meta.url), 'utf8')
  const [, all, newest] =
    /first search in an\sisolate costs at most (\d+) commands.*?newest 50 callbacks cost at most (\d+)/s.exec(docs)!
  const { url, close } = await startReceiver()
  const many = await startPages({ workers: [waits, fails] })
  const visitor = await many.enter(['read'])
  const ended: number[] = []
  for (let n = 0; n < 60; n++) ended.push(await many.make('fails', { callback: { url } }))
  for (const id of ended) await many.rest(id)
  await many.until(async () => (await many.engine.callbacks.list({ limit: 100 })).callbacks.length === 60)
  const { first, next } = await looks('/find?list&q=sh', many, visitor)
  expect(first.commands).toBeLessThanOrEqual(Number(all))
  expect(first.commands).toBeGreaterThan(Number(all) - 5)
  expect(next.commands).toBe(4)
  const { billed } = await costOf(many, async () => {
    expect((await many.engine.callbacks.list({ limit: 50 })).callbacks).toHaveLength(50)
  })
  expect(billed).toBeLessThanOrEqual(Number(newest))
  expect(billed).toBeGreaterThan(Number(newest) - 3)
  await Promise.all([many.close(), close()])
})

counted('a check of a typed class against waiting jobs costs 9 commands more than its page', async () => {
  const costs: Record<string, Cost> = {}
  const moment = Date.now()
  const typed = 'register=&queue=default&in=&args=%7B%7D'
  for (const path of ['/workers', `/workers?${typed}&class=pulled`, `/workers?${typed}&class=never`]) {
    await look(path, pages, reader, moment)
    costs[path] = await look(path, pages, reader, moment)
  }
  const [page, waited, none] = Object.values(costs) as [Cost, Cost, Cost]
  expect([waited.commands - page.commands, none.commands - page.commands]).toEqual([9, 9])
  expect([waited.trips, none.trips]).toEqual([2, 2])
})

counted('flows of any number and size cost two round trips, and one command for each flow with nodes', async () => {
  const flowing = await startPages({ workers: [waits, flow] })
  const visitor = await flowing.enter(['read'])
  const begin = async (n: number) => {
    const nodes = Array.from({ length: n }, (_, i) => [`node_${i}`, { queue: 'default', class: 'waits' }])
    const id = await flowing.make('flow', {
      queue: 'core',
      args: encodeValue({ graph: { nodes: Object.fromEntries(nodes) } }),
    })
    await flowing.rest(id)
  }
  const looked = async () => {
    expect(await visitor.html('/ui/flows')).toContain('Waiting values')
    return (await looks('/flows', flowing, visitor)).next
  }
  await begin(30)
  const one = await looked()
  for (let i = 0; i < 5; i++) await begin(30)
  const six = await looked()
  expect([one.trips, six.trips]).toEqual([2, 2])
  expect(six.commands - one.commands).toBeLessThanOrEqual(5)
  expect(one.commands).toBeLessThanOrEqual(13)
  await flowing.close()
})

counted('stored graphs add one command and no round trip to the first view of Flows', async () => {
  const before = await looks('/flows')
  for (const name of ['a', 'b'])
    await pages.engine.graphs.set(name, { nodes: {}, edges: [], inports: {}, outports: {} })
  const after = await looks('/flows')
  expect(after.first).toEqual({ trips: before.first.trips, commands: before.first.commands + 1 })
  expect(after.next).toEqual(before.next)
  for (const name of ['a', 'b']) await pages.engine.graphs.remove(name)
})

counted('the page of a job requests the stored runs once', async () => {
  const id = await pages.make('fails', { history: 5 })
  await pages.rest(id)
  await pages.engine.jobs.retry(String(id))
  await pages.rest(id)
  const { commands } = await costOf(pages, async () =>
    expect(await reader.html(`/ui/jobs/${id}?tab=runs`)).toContain('2 runs'),
  )
  expect(commands.lrange).toBe(1)
})

function minuteOf({ path, every }: (typeof table)[number]): number {
  const [, look, first] = most[path]!
  return every === 0 ? 0 : (60_000 / every) * look + 6 * (first - look)
}

counted('the page of a group with running and waiting jobs costs no more than stated', async () => {
  await pages.engine.workers.register('default', 'grouped', { pull: true })
  for (let n = 0; n < 3; n++) await pages.make('grouped', { group: { id: 'shop-7', concurrency: 1 } })
  await pages.engine.runs.claim('default', { names: ['grouped'], lease: 3_600_000, max: 3 })
  const { holders, waiting } = await pages.engine.limits.usage('group:shop-7', { holders: 9, waiting: 9 })
  expect([holders.length, waiting.length]).toEqual([1, 2])
  const { first, next } = await looks('/groups/shop-7')
  const [trips, look, cold] = most['/groups/:id']!
  expect([first.trips, next.trips].every((n) => n <= trips)).toBe(true)
  expect([first.commands, next.commands]).toEqual([cold, look])
})

test('the docs state the maximum cost of loading a page and of a minute of an open tab', () => {
  const docs = readFileSync(new URL('../../docs/dashboard.md', import.meta.url), 'utf8')
  const said = [...docs.matchAll(/^\| `(\/[^`]*)` \| (\d+) \| (\d+) \| (\d+) \| ([\d,]+|–) \|$/gm)].map((row) =>
    row.slice(1, 6),
  )
  const minutes = (page: (typeof table)[number]) => (page.every === 0 ? '–' : minuteOf(page).toLocaleString('en'))
  expect(said).toEqual(table.map((page) => [page.path, ...most[page.path]!.map(String), minutes(page)]))
})

counted('the docs state the cost of 100 jobs that fail, and of the first view of a failed job', async () => {
  const docs = readFileSync(new URL('../../docs/dashboard.md', import.meta.url), 'utf8')
  const [, all, view] = /failing 100 jobs costs (\d+) commands.*at most\s(\d+)/is.exec(docs)!
  const failing = await startPages({ workers: [fails] })
  const visitor = await failing.enter(['read'])
  const fail = () =>
    costOf(failing, () =>
      failing.engine.jobs.enqueue(Array.from({ length: 100 }, () => ({ queue: 'default', class: 'fails' })) as never),
    )
  await fail()
  const { billed, commands } = await fail()
  const { jobs, total } = await failing.engine.jobs.list({ status: 'failed', limit: 1 })
  expect(total).toBe(200)
  expect(billed, JSON.stringify(commands)).toBeLessThanOrEqual(Number(all))
  expect(billed).toBeGreaterThan(Number(all) - 10)
  const { first } = await looks(`/jobs/${jobs[0]!.id}`, failing, visitor)
  expect(first.commands).toBeLessThanOrEqual(Number(view))
  await failing.close()
})

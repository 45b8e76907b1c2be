// Each of these cases once delayed all callers, because a script looped over the data of one caller.

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { defineWorker } from '../../src/index.ts'
import { drain } from '../../src/testing/index.ts'
import { type Doors, startDoors } from './kit.ts'

const quick = defineWorker({ class: 'quick', perform: () => undefined })
const elsewhere = { ...quick, queue: 'elsewhere' }
const others = ['by-ids', 'by-filter'].map((queue) => ({ ...quick, queue }))

let doors: Doors
beforeAll(async () => {
  doors = await startDoors({ workers: [quick, elsewhere, ...others] })
})
// The checks of `close` take about 20 s with the embedded Redis, and longer while other tests run.
afterAll(() => doors.close(), 120_000)
afterEach(async () => {
  expect(doors.slow()).toEqual([])
  expect(doors.reported.splice(0)).toEqual([])
})

const make = async (job: object): Promise<number> => {
  const { status, text } = await doors.ask('POST', '/v1/jobs', job)
  expect({ status, text }).toMatchObject({ status: 201 })
  return JSON.parse(text).id
}

const FAR = ['9007199254740991', '9007199254740990', '1000000000000']
test.each(['/v1/jobs', '/v1/callbacks', '/v1/schedules', '/v1/doctor'])(
  'a cursor far above the last job quickly ends %s',
  async (path) => {
    await make({ class: 'quick' })
    for (const cursor of FAR) expect(await doors.ask('GET', `${path}?cursor=${cursor}`)).toMatchObject({ status: 200 })
  },
)

test.each(['9007199254740992', '9999999999999999', '0-0', '-1', '1e3'])(
  'a cursor %s that no page has returned is refused',
  async (cursor) => {
    expect(await doors.ask('GET', `/v1/jobs?cursor=${cursor}`)).toMatchObject({ status: 400 })
  },
)

test('defaults in a log entry cost no more than the size of the log entry', async () => {
  await doors.ask('PATCH', '/v1/queues/pulled', { mode: 'pull' })
  const id = await make({ queue: 'pulled', class: 'reader', in: { p: { default: 1 } } })
  const listening = new AbortController()
  const heard: string[] = []
  const stream = await doors.app.fetch(
    new Request('http://inside.test/v1/subscribe/sidejob/log', {
      headers: { authorization: 'Bearer key' },
      signal: listening.signal,
    }),
  )
  const reader = stream.body!.getReader()
  const reading = (async () => {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      heard.push(new TextDecoder().decode(value))
    }
  })().catch(() => undefined)
  const { text } = await doors.ask('POST', '/v1/queues/pulled/claim', { max: 1 })
  const { token } = JSON.parse(text).runs[0].run
  const commit = (p: number) =>
    doors.ask('POST', `/v1/runs/${token}/commit`, { end: 'completed', ops: [{ op: 'entry', defaults: { p } }] })
  expect(await commit(Number.MAX_SAFE_INTEGER)).toMatchObject({ status: 400 })
  expect(await commit(10_000)).toMatchObject({ status: 200 })
  await doors.until(() => heard.join('').includes('"more":'))
  listening.abort()
  await reader.cancel().catch(() => undefined)
  await reading
  expect(await doors.statusOf(id)).toBe('completed')
})

const SUFFIXES = ['held', 'waiting', 'window']

test.each(SUFFIXES)('a group named like another group and :%s does not affect the other group', async (suffix) => {
  const tenant = `tenant-${suffix}`
  const group = { id: tenant, concurrency: 1 }
  const [first, second] = [await make({ class: 'quick', group }), await make({ class: 'quick', group })]
  await make({ class: 'quick', queue: 'elsewhere', wait: '10h', group: { id: `${tenant}:${suffix}` } })
  await doors.engine.tick()
  await drain(doors.engine)
  expect([await doors.statusOf(first), await doors.statusOf(second)]).toEqual(['completed', 'completed'])
  for (const path of ['/v1/groups', '/v1/limits', '/metrics', `/v1/groups/${tenant}:${suffix}`])
    expect(await doors.ask('GET', path)).toMatchObject({ status: 200 })
})

test('a family of 1,500 is ended and deleted by one call each without delaying other calls', {
  timeout: 60_000,
}, async () => {
  const wait = '10h'
  const root = await make({ class: 'quick', wait })
  const child = (i: number) => ({ class: 'quick', wait, parent: root, name: `child ${i}` })
  for (let from = 0; from < 1_500; from += 250) {
    const some = Array.from({ length: 250 }, (_, i) => child(from + i))
    expect(await doors.ask('POST', '/v1/jobs', some)).toMatchObject({ status: 201 })
  }
  const ended = await doors.ask('POST', `/v1/jobs/${root}/terminate`, { recursive: true })
  expect(JSON.parse(ended.text)).toEqual({ id: root, status: 'terminated', rest: expect.any(Number) })
  await drain(doors.engine)
  const overview = await doors.ask('GET', '/v1/queues')
  expect(
    JSON.parse(overview.text).queues.find(({ name }: { name: string }) => name === 'default').counts,
  ).toMatchObject({
    scheduled: 0,
    terminated: 1_501,
  })
  expect(await doors.ask('DELETE', `/v1/jobs/${root}`)).toMatchObject({ status: 202 })
  await drain(doors.engine)
  expect(await doors.ask('GET', `/v1/jobs/${root}`)).toMatchObject({ status: 404 })
  expect((await doors.engine.jobs.list({ status: 'terminated' })).jobs).toEqual([])
})

const values = (n: number) => Array.from({ length: n }, () => 1)

test('one write of 10,000 values delays no other call, whatever the number of channels of its port', {
  timeout: 60_000,
}, async () => {
  const wait = '10h'
  const port = (n: number) => ({ out: { channels: Array.from({ length: n }, (_, i) => `/many/${n}/${i}`) } })
  await make({ class: 'quick', wait, in: { in: { channels: ['/many/1'] } } })
  const one = await make({ class: 'quick', wait, out: port(1) })
  expect(await doors.ask('POST', `/v1/jobs/${one}/out/out`, { values: values(10_000) })).toMatchObject({ status: 200 })
  const many = await make({ class: 'quick', wait, out: port(1_000) })
  expect(await doors.ask('POST', `/v1/jobs/${many}/out/out`, { values: values(10_000) })).toMatchObject({ status: 413 })
  expect(await doors.ask('POST', `/v1/jobs/${many}/out/out`, { values: values(10) })).toMatchObject({ status: 200 })
  await drain(doors.engine)
})

test('10,000 values connected to 1,000 ports are moved five at a time, also if all are the same port', {
  timeout: 60_000,
}, async () => {
  const wait = '10h'
  const from = await make({ class: 'quick', wait, out: { out: {} } })
  const ports = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`p${i}`, {}]))
  const to = await make({ class: 'quick', wait, in: ports })
  await doors.ask('POST', `/v1/jobs/${from}/out/out`, { values: values(10_000) })
  const targets = (name: (i: number) => string) => Array.from({ length: 1_000 }, (_, i) => ({ job: to, in: name(i) }))
  const connect = (name: (i: number) => string) =>
    doors.ask('POST', `/v1/jobs/${from}/out/out/connect`, { to: targets(name) })
  expect(JSON.parse((await connect((i) => `p${i}`)).text)).toEqual({ moved: 5 })
  expect(JSON.parse((await connect(() => 'p0')).text)).toEqual({ moved: 5 })
  expect(JSON.parse((await doors.ask('GET', `/v1/jobs/${to}/in/p0`)).text)).toMatchObject({ size: 5_005 })
})

test('a message to 500 listeners, or by the relay to more, delays no other call', { timeout: 60_000 }, async () => {
  // No lane serves a pull queue, so later tests do not run these thousand jobs.
  await doors.ask('PATCH', '/v1/queues/crowd', { mode: 'pull' })
  const channel = `/crowd/${crypto.randomUUID()}`
  const job = { queue: 'crowd', class: 'listener', wait: '10h', in: { in: { channels: [channel] } } }
  for (let n = 0; n < 4; n++)
    expect(await doors.ask('POST', '/v1/jobs', Array(250).fill(job))).toMatchObject({ status: 201 })
  const { text } = await doors.ask('POST', '/v1/publish', { channel, message: 1 })
  expect(JSON.parse(text)).toEqual({ subscribers: 1_000 })
  await doors.watched('the relay', () => drain(doors.engine))
})

test('waiting claims with the worst globs, and jobs with the worst names, delay no other call', {
  timeout: 60_000,
}, async () => {
  await doors.ask('PATCH', '/v1/queues/globbed', { mode: 'pull' })
  const globs = Array.from({ length: 20 }, (_, i) => `${'*a'.repeat(28)}*b${i}`)
  const job = (i: number) => ({ queue: 'globbed', class: `${'a'.repeat(240)}${i}`, priority: -1 })
  const claiming = { max: 1, begun: 1, lease: 30_000, pull: true, patterns: globs }
  for (let n = 0; n < 100; n++)
    await doors.store.commit({ queue: 'globbed', claim: { ...claiming, waiter: { id: `w${n}`, wait: 60_000 } } })
  for (let n = 0; n < 3; n++) {
    const jobs = Array.from({ length: 100 }, (_, i) => job(100 * n + i))
    expect(await doors.ask('POST', '/v1/jobs', jobs)).toMatchObject({ status: 201 })
  }
  const sets = Array.from({ length: 20 }, (_, i) => `*[${'b-c'.repeat(19)}]x${i}`.slice(0, 64))
  for (const patterns of [globs, sets])
    for (const skip of [0, 100])
      await doors.watched(`a claim of ${patterns[0]}`, () =>
        doors.store.commit({ queue: 'globbed', claim: { ...claiming, patterns, skip } }),
      )
})

test('twelve jobs of 1 MB, and a log of the largest entries, are listed in readable pages', {
  timeout: 60_000,
}, async () => {
  const ids: number[] = []
  for (let n = 0; n < 12; n++)
    ids.push(await make({ class: 'quick', queue: 'elsewhere', wait: '10h', args: 'x'.repeat(1_000_000) }))
  const listed: number[] = []
  for (let path = '/v1/jobs?queue=elsewhere'; path; ) {
    const { status, text } = await doors.ask('GET', path)
    expect(status).toBe(200)
    const { jobs, cursor } = JSON.parse(text)
    listed.push(...jobs.map(({ id }: { id: number }) => id))
    path = cursor ? `/v1/jobs?queue=elsewhere&cursor=${cursor}` : ''
  }
  expect(listed).toEqual(expect.arrayContaining(ids))
  for (let n = 0; n < 800; n += 50)
    await Promise.all(
      Array.from({ length: 50 }, () =>
        doors.engine.log.write(JSON.stringify({ message: 'x'.repeat(16_000) }) as never),
      ),
    )
  for (const limit of [1, 1_000])
    expect(await doors.ask('GET', `/v1/log?limit=${limit}`)).toMatchObject({ status: 200 })
})

test('a list of thousands of groups delays no other call, and a scrape shows 100 of them', {
  timeout: 60_000,
}, async () => {
  for (let from = 0; from < 4_000; from += 250) {
    const some = Array.from({ length: 250 }, (_, i) => ({
      class: 'quick',
      wait: '10h',
      group: { id: `crowd-${from + i}`, concurrency: 1 },
    }))
    expect(await doors.ask('POST', '/v1/jobs', some)).toMatchObject({ status: 201 })
  }
  const { text } = await doors.ask('GET', '/v1/groups')
  const ids = JSON.parse(text).groups.map(({ id }: { id: string }) => id)
  expect(ids.filter((id: string) => id.startsWith('crowd-'))).toHaveLength(4_000)
  expect(new Set(ids).size).toBe(ids.length)
  const scraped = await doors.ask('GET', '/metrics')
  const shown = new Set([...scraped.text.matchAll(/group="([^"]+)"/g)].map(([, id]) => id))
  expect(shown.size).toBe(100)
  expect(scraped.text.length).toBeLessThan(200_000)
})

test('a bulk action over jobs with 100 aliases each is done in slices, by filter and by ids', {
  timeout: 60_000,
}, async () => {
  const ids: number[] = []
  for (let n = 0; n < 8; n++) {
    const jobs = Array.from({ length: 50 }, (_, i) => ({
      class: 'quick',
      wait: '10h',
      queue: n < 4 ? 'by-ids' : 'by-filter',
      priority: 77,
      alias: Array.from({ length: 100 }, (_, at) => `bulk-${n}-${i}-${at}`),
    }))
    const { status, text } = await doors.ask('POST', '/v1/jobs', jobs)
    expect({ status, text }).toMatchObject({ status: 201 })
    ids.push(...JSON.parse(text).jobs.map(({ id }: { id: number }) => id))
  }
  const bulk = (body: object) => doors.ask('POST', '/v1/bulk', { action: 'delete', ...body })
  expect(await bulk({ ids: ids.slice(0, 200) })).toMatchObject({ status: 201 })
  await doors.watched('deleting by ids', () => drain(doors.engine))
  expect(await bulk({ filter: { queue: 'by-filter' } })).toMatchObject({ status: 201 })
  await doors.watched('deleting by a filter', () => drain(doors.engine))
  for (const id of [ids[0], ids[199], ids[200], ids[399]])
    expect(await doors.ask('GET', `/v1/jobs/${id}`)).toMatchObject({ status: 404 })
  expect(await doors.ask('GET', '/v1/jobs/bulk-0-0-0')).toMatchObject({ status: 404 })
})

test('a constraint with 3,000 keys is removed without delaying other calls, and all its waiting jobs are released', {
  timeout: 120_000,
}, async () => {
  await doors.ask('PATCH', '/v1/queues/constrained', { mode: 'pull' })
  await doors.ask('PUT', '/v1/constraints/held', { match: { queue: 'constrained' }, concurrency: 1, groupBy: 'host' })
  const { version } = JSON.parse((await doors.store.constraints())!)
  const job = { queue: 'constrained', class: 'reader', known: true, constraints: version }
  for (let from = 0; from < 3_000; from += 100) {
    const jobs = Array.from({ length: 100 }, (_, i) => ({
      ...job,
      limits: [{ key: `constraint:held:${from + i}`, how: 'set' as const, concurrency: 0 }],
    }))
    await doors.store.enqueue(jobs, undefined, version)
  }
  const waiting = async () =>
    (await doors.store.limits()).filter(({ key, waiting }) => key.startsWith('constraint:held:') && waiting > 0)
  expect(await waiting()).toHaveLength(3_000)
  expect(await doors.ask('DELETE', '/v1/constraints/held')).toMatchObject({ status: 200 })
  for (let more = true; more; ) more = await doors.watched('a tick', async () => (await doors.store.tick()).more)
  expect(await waiting()).toEqual([])
})

test('6,000 channels are listed in pages, each once', { timeout: 60_000 }, async () => {
  for (let n = 0; n < 6; n++)
    await make({
      class: 'quick',
      wait: '10h',
      in: { in: { channels: Array.from({ length: 1_000 }, (_, i) => `/paged/${n}/${i}`) } },
    })
  const names: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { text } = await doors.ask('GET', `/v1/channels${cursor && `?cursor=${cursor}`}`)
    const page = JSON.parse(text)
    expect(page.channels.length).toBeLessThan(3_000)
    names.push(...page.channels.map(({ name }: { name: string }) => name))
    cursor = page.cursor
  }
  expect(names.filter((name) => name.startsWith('/paged/'))).toHaveLength(6_000)
})

test('a new queue for pull workers was not in the list of queues', async () => {
  const names = Array.from({ length: 20 }, (_, i) => `new-${i}`)
  for (const name of names) await doors.ask('PATCH', `/v1/queues/${name}`, { mode: 'pull' })
  const { queues } = JSON.parse((await doors.ask('GET', '/v1/queues')).text)
  expect(queues.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(names))
})

test('a look at a missing queue created a queue that no list had', async () => {
  for (let i = 0; i < 20; i++) expect(await doors.ask('GET', '/v1/queues/missing')).toMatchObject({ status: 404 })
  const { queues } = JSON.parse((await doors.ask('GET', '/v1/queues')).text)
  expect(queues.map(({ name }: { name: string }) => name)).not.toContain('missing')
})

// docs/compat/sidejob.md refers to these tests by their titles.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { defineWorker } from '../../../src/index.ts'
import { type Desk, startDesks } from './kit.ts'
import { taken, workers } from './workers.ts'

const making = defineWorker({
  class: 'making',
  perform: (job) => ('made' in job.children ? undefined : job.spawn('made', { class: 'nop' })),
})

let desks: Awaited<ReturnType<typeof startDesks>>
let desk: Desk
beforeAll(async () => {
  desks = await startDesks([...workers, making])
})
beforeEach(() => {
  desk = desks.desk()
  taken()
})
afterAll(() => desks.close())

const gone = (id: number) => `job ${id} does not exist`

test('the registry in Redis has all classes of a deployment’s queues, and every deployment reads it', async () => {
  await desk.make('nop')
  await desk.engine.workers.register('elsewhere', 'remote', {
    push: { url: 'http://127.0.0.1:1/' },
    description: 'far away',
  })
  const { workers: all } = await desk.engine.workers.list()
  const found = (name: string) => all.find((one) => one.class === name)
  expect(found('tuples')).toMatchObject({
    queue: 'default',
    in: { d: { default: '"default"' }, dn: { default: 'null' } },
  })
  expect(found('remote')).toMatchObject({ queue: 'elsewhere', description: 'far away' })
  expect(await desk.status(await desk.make('remote', { queue: 'elsewhere' }))).toBe('queued')
  await desk.engine.workers.unregister('elsewhere', 'remote')
  await expect(desk.make('remote', { queue: 'elsewhere' })).rejects.toThrow('class remote is not registered')
})

test('the classes of a queue are published on its channel when they change', async () => {
  const ear = await desk.ear('/sidejob/workers/elsewhere')
  const log = await desk.ear('/sidejob/log')
  await desk.engine.workers.register('elsewhere', 'remote', { pull: true })
  await desk.engine.workers.register('elsewhere', 'remote', { pull: true })
  expect(await desk.heard(ear)).toEqual([{ remote: { in: {}, out: {}, pull: true } }])
  expect(await desk.heard(log)).toEqual([])
})

test('a job of an unregistered class is not created and takes no id', async () => {
  await expect(desk.make('unknown')).rejects.toThrow('class unknown is not registered for queue default')
  expect(await desk.make('nop')).toBe(1)
})

test('a child needs an existing parent and a free name; a refused child is not created', async () => {
  const parent = await desk.make('nop')
  const child = await desk.make('nop', { parent, name: 'a' })
  await expect(desk.make('nop', { parent, name: 'a' })).rejects.toThrow(`already has a child a (job ${child})`)
  await expect(desk.make('nop', { parent: 99, name: 'b' })).rejects.toThrow(gone(99))
  const unnamed = await desk.make('nop', { parent })
  expect(unnamed).toBe(3)
  expect(Object.keys((await desk.view(parent)).children).sort()).toEqual(['3', 'a'])
})

test('a job created by a run is its child, and records its creator', async () => {
  const parent = await desk.make('making', { createdBy: 'me' })
  await desk.drain()
  const child = (await desk.view(parent)).children.made!.id
  expect(await desk.view(child)).toMatchObject({ parent: { id: parent, name: 'made' }, createdBy: `job:${parent}` })
})

test('a name without a parent has no effect', async () => {
  const job = await desk.make('nop', { name: 'a' })
  expect(await desk.view(job)).toMatchObject({ name: null, parent: null })
})

test('creating, adopting or disowning a child does not run its parent', async () => {
  const parent = await desk.make('nop')
  await desk.drain()
  await desk.make('nop', { parent, name: 'a' })
  const orphan = await desk.make('nop')
  await desk.engine.jobs.adopt(String(parent), { job: String(orphan), name: 'b' })
  await desk.engine.jobs.disown(String(parent), { name: 'b' })
  expect(await desk.status(parent)).toBe('completed')
})

test('a job is found by its id or by one of its aliases, and by nothing else', async () => {
  const job = await desk.make('nop', { alias: ['one', 'Über'] })
  for (const ref of [String(job), 'one', 'Über']) expect((await desk.engine.jobs.get(ref)).id).toBe(job)
  for (const ref of ['1abc', ' 1', '01', '1.9', 'on', '2'])
    await expect(desk.engine.jobs.get(ref)).rejects.toThrow(`job ${ref} does not exist`)
})

test('a job has any number of aliases; each belongs to one job, and is removed alone or with the job', async () => {
  const [job, other] = [await desk.make('nop'), await desk.make('nop')]
  expect((await desk.view(job)).aliases).toEqual([])
  for (const alias of ['a', 'b', 'a']) await desk.engine.jobs.setAlias(String(job), alias, 'add')
  expect((await desk.view(job)).aliases).toEqual(['a', 'b'])
  await expect(desk.engine.jobs.setAlias(String(other), 'a', 'add')).rejects.toThrow(`alias a belongs to job ${job}`)
  await expect(desk.engine.jobs.setAlias(String(other), 'a', 'remove')).rejects.toThrow(`job ${other} has no alias a`)
  await desk.engine.jobs.setAlias(String(job), 'a', 'remove')
  await desk.engine.jobs.setAlias(String(other), 'a', 'add')
  await desk.terminate(job)
  await desk.remove(job)
  await desk.engine.jobs.setAlias(String(other), 'b', 'add')
  expect((await desk.view(other)).aliases).toEqual(['a', 'b'])
})

test('a class without status messages publishes none, and other classes publish each status once', async () => {
  const ear = await desk.ear('/sidejob/job')
  const quiet = await desk.make('deaf')
  await desk.drain()
  await desk.run(quiet)
  expect(await desk.heard(ear)).toEqual([])
  const job = await desk.make('nop')
  await desk.run(job)
  await desk.run(job)
  expect(await desk.heard(ear)).toEqual([{ status: 'queued' }])
})

test('status messages are not logged', async () => {
  const [log, ear] = [await desk.ear('/sidejob/log'), await desk.ear('/sidejob/job/3')]
  await desk.make('nop')
  await desk.drain()
  expect(await desk.heard(ear)).toEqual([{ status: 'queued' }, { status: 'running' }, { status: 'completed' }])
  expect(await desk.heard(log)).toEqual([])
})

test('many requests to run lead to one run', async () => {
  const job = await desk.make('nop')
  for (let i = 0; i < 5; i++) await desk.run(job)
  await desk.put(job, 'a', 1)
  expect(await desk.drain()).toHaveLength(1)
  await desk.run(job, { at: desk.now() + 60_000 })
  await desk.run(job, { at: desk.now() + 60_000 })
  await desk.run(job)
  expect(await desk.drain()).toHaveLength(1)
})

test('run with parent runs the parent, if its status allows it', async () => {
  const parent = await desk.make('nop')
  const child = await desk.make('nop', { parent, name: 'a' })
  await desk.drain()
  expect(await desk.run(child, { parent: true })).toEqual({ id: parent, status: 'queued' })
  expect(await desk.status(child)).toBe('completed')
  await desk.terminate(parent)
  expect(await desk.run(child, { parent: true })).toEqual({ id: parent, status: 'terminated', ran: false })
  await expect(desk.run(parent, { parent: true })).rejects.toThrow(`job ${parent} has no parent`)
})

test('a job is terminated when it runs after its class was removed, and the caller gets an error', async () => {
  await desk.engine.workers.register('elsewhere', 'remote', { push: { url: 'http://127.0.0.1:1/' } })
  const job = await desk.make('remote', { queue: 'elsewhere' })
  await desk.engine.workers.unregister('elsewhere', 'remote')
  await expect(desk.run(job)).rejects.toThrow(`class remote is no longer registered for queue elsewhere`)
  expect(await desk.status(job)).toBe('terminated')
})

test('terminate ends a job in every status, once', async () => {
  const jobs = [await desk.make('closing'), await desk.make('suspending'), await desk.make('failing')]
  await desk.drain('fifo', 'keep')
  jobs.push(await desk.make('nop', { at: desk.now() + 60_000 }))
  for (const job of jobs) await desk.terminate(job)
  expect(await desk.status(jobs[0]!)).toBe('terminating')
  await desk.terminate(jobs[0]!)
  expect(await desk.ready()).toEqual([jobs[0]])
  taken()
  await desk.drain()
  expect(taken()).toEqual([`shutdown ${jobs[0]}`])
  for (const job of jobs) expect(await desk.terminate(job)).toEqual({ id: job, status: 'terminated' })
  expect(await desk.ready()).toEqual([])
})

async function tree(className = 'nop') {
  const top = await desk.make(className)
  const child = await desk.make(className, { parent: top, name: 'a' })
  const grandchild = await desk.make(className, { parent: child, name: 'a' })
  await desk.drain()
  return { top, child, grandchild }
}

test('terminate includes descendants only on request, also below a terminated job', async () => {
  const { top, child, grandchild } = await tree()
  await desk.terminate(top)
  expect([await desk.status(child), await desk.status(grandchild)]).toEqual(['completed', 'completed'])
  await desk.terminate(top, true)
  expect([await desk.status(child), await desk.status(grandchild)]).toEqual(['terminated', 'terminated'])
})

test('only a terminated job with terminated descendants can be deleted', async () => {
  const { top, child, grandchild } = await tree()
  await expect(desk.remove(top)).rejects.toThrow('terminate it and all jobs below it first')
  await desk.terminate(top)
  await desk.terminate(child)
  await expect(desk.remove(top)).rejects.toThrow(`job ${grandchild} is completed`)
  expect(await desk.status(top)).toBe('terminated')
})

test('a deletion removes the whole tree, and publishes each job, descendants first', async () => {
  const ear = await desk.ear('/sidejob/job')
  const parent = await desk.make('nop')
  const { top, child, grandchild } = await tree()
  await desk.engine.jobs.adopt(String(parent), { job: String(top), name: 'top' })
  await desk.set(top, { n: 'x'.repeat(1_000) })
  await desk.put(child, 'a', 1, 2)
  await desk.setDefault(child, 'in', 'a', 'x'.repeat(1_000))
  await desk.engine.ports.setChannels(String(child), 'in', 'a', ['/a'])
  await desk.engine.jobs.setAlias(String(grandchild), 'name', 'add')
  await desk.drain()
  await desk.terminate(top, true)
  await desk.engine.jobs.disown(String(parent), { name: 'top' })
  await desk.heard(ear)
  await desk.remove(top)
  expect((await desk.view(parent)).children).toEqual({})
  const ids = (await desk.engine.ports.get(String(ear), 'in', 'ear')).values.map(
    ({ context }) => JSON.parse(context!).channel,
  )
  expect(ids).toEqual([grandchild, child, top].map((id) => `/sidejob/job/${id}`))
  for (const id of [top, child, grandchild]) expect(await desk.keys(`job:${id}*`)).toEqual([])
  expect(await desk.keys('channel:/a')).toEqual([])
  expect((await desk.engine.channels.list()).channels.map(({ name }) => name)).toEqual(['/sidejob/job'])
})

test('every call for a deleted job fails, and no data of it remains', async () => {
  const job = await desk.make('nop', { in: { a: {} } })
  await desk.terminate(job)
  await desk.remove(job)
  const ref = String(job)
  const tries = [
    desk.view(job),
    desk.state(job),
    desk.set(job, { a: 1 }),
    desk.set(job, {}, ['a']),
    desk.put(job, 'a', 1),
    desk.run(job),
    desk.terminate(job),
    desk.remove(job),
    desk.engine.jobs.lock(ref, { ttl: 1_000 }),
    desk.engine.jobs.refreshLock(ref, { token: 'x', ttl: 1_000 }),
    desk.engine.jobs.unlock(ref, { token: 'x' }),
    desk.engine.jobs.setAlias(ref, 'a', 'add'),
  ]
  for (const one of await Promise.allSettled(tries))
    expect(String((one as PromiseRejectedResult).reason)).toContain(gone(job))
  expect(await desk.keys('job:*')).toEqual([])
})

test('a job can be adopted if it has no parent and is no ancestor, under a free name', async () => {
  const [a, b, c] = [await desk.make('nop'), await desk.make('nop'), await desk.make('nop')]
  const adopt = (parent: number, job: number, name: string) =>
    desk.engine.jobs.adopt(String(parent), { job: String(job), name })
  await expect(adopt(a, a, 'self')).rejects.toThrow('a job cannot adopt itself or its ancestors')
  await adopt(a, b, 'child')
  await expect(adopt(c, b, 'child')).rejects.toThrow(`job ${b} already has a parent (job ${a})`)
  await expect(adopt(a, c, 'child')).rejects.toThrow('already has a child child')
  await expect(adopt(b, a, 'loop')).rejects.toThrow('a job cannot adopt itself or its ancestors')
  await desk.terminate(b)
  await desk.remove(b)
  await adopt(a, c, 'child')
  expect((await desk.view(a)).children).toEqual({ child: { id: c, class: 'nop', status: 'queued' } })
  expect((await desk.view(c)).parent).toEqual({ id: a, name: 'child' })
})

test('a disowned child continues without a parent', async () => {
  const parent = await desk.make('nop')
  const child = await desk.make('nop', { parent, name: 'a' })
  await expect(desk.engine.jobs.disown(String(parent), { name: 'b' })).rejects.toThrow(`job ${parent} has no child b`)
  await desk.engine.jobs.disown(String(parent), { name: 'a' })
  expect([(await desk.view(parent)).children, (await desk.view(child)).parent]).toEqual([{}, null])
  await desk.drain()
  expect(await desk.status(child)).toBe('completed')
})

test('state is set, unset and read field by field, and null is a value', async () => {
  const job = await desk.make('nop')
  expect(await desk.state(job)).toEqual({})
  await desk.set(job, { a: { b: [1, null] }, n: null, inputs: 1 })
  await desk.set(job, {})
  await desk.set(job, { n: 2 }, ['a', 'never'])
  expect(await desk.state(job)).toEqual({ n: 2, inputs: 1 })
})

test('one caller holds a lock, which expires; only the token renews or releases the lock, and the job waits', async () => {
  const job = await desk.make('nop')
  const ref = String(job)
  const { token } = await desk.engine.jobs.lock(ref, { ttl: 60_000 })
  await expect(desk.engine.jobs.lock(ref, { ttl: 60_000 })).rejects.toThrow(/is locked for another \d+ ms$/)
  await expect(desk.engine.jobs.refreshLock(ref, { token: 'other', ttl: 9e6 })).rejects.toThrow(
    'is not locked with this token',
  )
  await expect(desk.engine.jobs.unlock(ref, { token: 'other' })).rejects.toThrow('is not locked with this token')
  await desk.engine.jobs.refreshLock(ref, { token, ttl: 120_000 })
  expect(await desk.drain()).toEqual([])
  expect(await desk.status(job)).toBe('queued')
  await desk.engine.jobs.unlock(ref, { token })
  expect(await desk.drain()).toHaveLength(1)
  await desk.engine.jobs.lock(ref, { ttl: 1 })
  await new Promise((resolve) => setTimeout(resolve, 5))
  await desk.engine.jobs.lock(ref, { ttl: 60_000 })
})

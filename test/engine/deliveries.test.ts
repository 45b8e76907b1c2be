import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { encodeValue } from '../../src/core/codec/value.ts'
import type { DeliveryRequest, JobInput } from '../../src/engine/engine.ts'
import { createEngine } from '../../src/engine/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

let kit: Kit
let engine: ReturnType<typeof createEngine>
beforeAll(async () => {
  kit = await startKit({ hold: true })
})
beforeEach(async () => {
  engine = createEngine({ ...kit.engineOptions, namespace: `${crypto.randomUUID().slice(0, 8)}:` })
  await engine.queues.update('q', { mode: 'pull' })
})
afterAll(() => kit.close())

const make = async (name: string, input: Partial<JobInput> = {}): Promise<number> =>
  (await engine.jobs.enqueue([{ queue: 'q', class: name, ...input }])).jobs[0]!.id
const claim = (names?: string[]) => engine.runs.claim('q', { names, max: 10 })
const one = async (name: string) => {
  const runs = await claim([name])
  expect(runs).toHaveLength(1)
  return runs[0]!
}
const lend = async (lending: DeliveryRequest = {}) =>
  (await engine.deliveries.claim('q', { max: 10, ...lending })).deliveries.map(({ job }) => job.class)
const status = async (id: number) => (await engine.jobs.get(String(id))).status
const healthy = async () => expect(await engine.doctor.verify()).toEqual([])

describe('a child that joins the run of its parent', () => {
  test('is held until that run has ended, whatever arrives in the meantime', async () => {
    const parent = await make('parent')
    const run = await one('parent')
    const child = await make('child', { parent: String(parent), joins: true, in: { data: {} } })
    expect(await engine.jobs.get(String(child))).toMatchObject({
      status: 'suspended',
      waitingFor: 'parent',
      name: String(child),
    })
    expect((await engine.jobs.why(String(child))).reasons).toMatchObject([{ code: 'PARENT', job: parent }])
    await engine.ports.write(String(child), 'in', 'data', ['1'])
    expect(await claim()).toEqual([])
    await engine.runs.commit(run.run.token, { end: 'suspended', waitFor: 'children' })
    expect(await status(child)).toBe('queued')
    const { run: childRun } = await one('child')
    await engine.runs.commit(childRun.token, { end: 'completed', reads: { data: { cursor: 0, count: 1 } } })
    expect(await status(parent)).toBe('queued')
    await healthy()
  })

  test('stays held when the run fails or is requested again, and is cancelled when the parent is terminated', async () => {
    const parent = await make('parent', { retry: { max: 3, backoff: { base: 0 } } })
    const first = await one('parent')
    const child = await make('child', { parent: String(parent), joins: true })
    await engine.runs.commit(first.run.token, { end: 'failed', error: { message: 'broken' } })
    expect(await status(child)).toBe('suspended')
    const second = await one('parent')
    await engine.runs.commit(second.run.token, { end: 'again' })
    expect(await status(child)).toBe('suspended')
    await engine.jobs.terminate(String(parent), {})
    expect(await status(child)).toBe('terminated')
    await healthy()
  })

  test('runs when it is disowned, because no parent would release it', async () => {
    const parent = await make('parent')
    await one('parent')
    const child = await make('child', { parent: String(parent), joins: true })
    await engine.jobs.disown(String(parent), { name: String(child) })
    expect(await status(child)).toBe('queued')
    await one('child')
    await healthy()
  })

  test('is refused below a parent that was terminated after an unanswered run', async () => {
    const parent = await make('parent', { redeliver: { after: '+5 SECONDS' } })
    await claim()
    await kit.advance(5_100)
    await claim(['nobody'])
    await engine.jobs.terminate(String(parent), {})
    await expect(make('child', { parent: String(parent), joins: true })).rejects.toMatchObject({ code: 'WRONG_STATUS' })
  })

  test('runs at once below a parent that waits for its children, and is refused below any other', async () => {
    const parent = await make('parent')
    await expect(make('child', { parent: String(parent), joins: true })).rejects.toMatchObject({ code: 'WRONG_STATUS' })
    const run = await one('parent')
    await make('first', { parent: String(parent), joins: true })
    await engine.runs.commit(run.run.token, { end: 'suspended', waitFor: 'children' })
    const second = await make('second', { parent: String(parent), joins: true })
    expect(await status(second)).toBe('queued')
    for (const name of ['first', 'second']) {
      expect(await status(parent)).toBe('suspended')
      const { run } = await one(name)
      await engine.runs.commit(run.token, { end: 'completed' })
    }
    expect(await status(parent)).toBe('queued')
    await healthy()
  })
})

test('a waiting parent receives the outcome of its children, until it commits', async () => {
  const parent = await make('parent')
  const run = await one('parent')
  const spawned = ['good', 'bad', 'unwanted'].map((name) => ({
    op: 'spawn' as const,
    name,
    queue: 'q',
    class: name,
    args: `"${name}"`,
    keepResult: true,
  }))
  await engine.runs.commit(run.run.token, { end: 'suspended', waitFor: 'children', ops: spawned })
  const { children } = await engine.jobs.get(String(parent))
  await engine.runs.commit((await one('good')).run.token, { end: 'completed', result: '42' })
  await engine.runs.commit((await one('bad')).run.token, { end: 'failed', error: { message: 'broken', retry: false } })
  await engine.jobs.cancel(String(children.unwanted!.id))
  const told = await one('parent')
  expect(told.family).toEqual({
    finished: [{ id: children.good!.id, name: 'good', class: 'good', args: '"good"', result: '42' }],
    failed: [
      { id: children.bad!.id, name: 'bad', class: 'bad', args: '"bad"', error: expect.stringContaining('broken') },
    ],
    cancelled: [{ id: children.unwanted!.id, name: 'unwanted', class: 'unwanted', args: '"unwanted"' }],
  })
  await engine.runs.commit(told.run.token, { end: 'again' })
  expect((await one('parent')).family).toBeUndefined()
  await healthy()
})

describe('a claim', () => {
  test('gets a job with a tag only if it asks for the tag', async () => {
    await make('plain')
    await make('tagged', { tag: 'mock' })
    expect(await lend()).toEqual(['plain'])
    expect(await claim()).toEqual([])
    expect(await lend({ tags: ['mock'] })).toEqual(['tagged'])
  })

  test('gets only jobs of the requested priority', async () => {
    for (const priority of [-5, 0, 5]) await make(`p${priority}`, { priority })
    expect(await lend({ priority: 5 })).toEqual(['p5'])
    expect(await lend()).toEqual(['p-5', 'p0'])
  })

  test('gets the earliest due job, even if it was created last', async () => {
    const now = Date.now() + kit.engineOptions.clock!()
    await make('new')
    await make('old', { at: now - 60_000 })
    await make('older', { at: now - 3_600_000, repeat: 'FINISHED, +1 DAY' })
    expect(await lend()).toEqual(['older', 'old', 'new'])
  })

  test('can match globs with sets, characters and stars, but brackets in its exact names are literal', async () => {
    for (const name of ['mail', 'nail', 'tail', '[m]ail', 'é1', 'e1']) await make(name)
    expect(await lend({ names: ['[l-n]ail'] })).toEqual(['mail', 'nail'])
    expect(await lend({ names: ['[^m]?'] })).toEqual(['é1', 'e1'].slice(1))
    expect(await lend({ names: ['?1'] })).toEqual(['é1'])
    expect((await claim(['[m]ail'])).map(({ job }) => job.class)).toEqual(['[m]ail'])
    expect(await lend({ names: ['[tail'] })).toEqual([])
  })

  test('fails the jobs of a banned class instead of leasing them, until the ban is lifted', async () => {
    await engine.deliveries.block('q', ['bad*'])
    const bad = await make('bad/one')
    expect(await engine.deliveries.claim('q', {})).toEqual({ deliveries: [], failed: 1 })
    expect(await status(bad)).toBe('failed')
    await engine.deliveries.block('q', null)
    await make('bad/two')
    expect(await lend()).toEqual(['bad/two'])
    await healthy()
  })

  test('left its jobs leased if Redis failed while the limits of other jobs changed: now it gives them back', async () => {
    await make('old')
    await engine.constraints.set('all', { match: { queue: 'q' }, concurrency: 100 })
    const fresh = await make('fresh')
    kit.gateway.faults.refuse(429, { when: ([command]) => command?.includes('tag') ?? false })
    await expect(lend()).rejects.toMatchObject({ code: 'FULL' })
    expect(await status(fresh)).toBe('queued')
    expect([await lend(), await lend()]).toEqual([['fresh'], ['old']])
    await healthy()
  })

  test('gets a job again after its own timeout, also in a batch, and the last delivery fails it', async () => {
    const id = await make('slow', { redeliver: { after: '+5 SECONDS', max: 2 } })
    const [run] = await claim()
    await kit.advance(5_100)
    await make('other')
    expect(await engine.deliveries.get(String(id))).toMatchObject({ deliveries: 1, status: 'running' })
    expect(await lend()).toEqual(['slow', 'other'])
    await expect(engine.runs.commit(run!.run.token, { end: 'completed' })).rejects.toMatchObject({ code: 'LOST' })
    await kit.advance(5_100)
    expect(await engine.deliveries.claim('q', {})).toEqual({ deliveries: [], failed: 1 })
    expect(await status(id)).toBe('failed')
    await healthy()
  })
})

describe('deliveries', () => {
  async function givenUp(): Promise<number> {
    const id = await make('slow', { redeliver: { after: '+5 SECONDS', max: 1 } })
    await claim()
    await kit.advance(5_100)
    expect(await engine.deliveries.claim('q', {})).toEqual({ deliveries: [], failed: 1 })
    return id
  }

  test('are counted from zero when a person retries the job, or runs it by force', async () => {
    await engine.jobs.retry(String(await givenUp()))
    expect(await lend()).toEqual(['slow'])
    await engine.jobs.run(String(await givenUp()), { force: true })
    expect(await lend()).toEqual(['slow'])
  })

  test('are counted from zero after a failure, because a failure is an answer', async () => {
    await make('slow', { redeliver: { after: '+5 SECONDS', max: 1 }, retry: { max: 3, backoff: { base: 0 } } })
    for (let n = 0; n < 2; n++) {
      const { run } = await one('slow')
      await engine.runs.commit(run.token, { end: 'failed', error: { message: 'broken' } })
    }
    expect(await lend()).toEqual(['slow'])
  })

  test('are counted from zero for each slot of a repeat', async () => {
    await make('slow', { redeliver: { after: '+5 SECONDS', max: 1 }, repeat: 'STARTED, +1 MINUTE' })
    const { run } = await one('slow')
    await engine.runs.commit(run.token, { end: 'failed', error: { message: 'broken', retry: false } })
    await kit.advance(61_000)
    expect(await lend()).toEqual(['slow'])
  })
})

describe('a run of a job that is known by its id', () => {
  test('is ended by conclude, also after its lease, unless another worker has the job', async () => {
    const id = await make('job', { redeliver: { after: '+1 SECOND' } })
    await expect(engine.deliveries.finish(String(id), { end: 'completed' })).rejects.toMatchObject({
      code: 'WRONG_STATUS',
    })
    await claim()
    await kit.advance(2_000)
    expect(await engine.deliveries.finish(String(id), { end: 'completed', args: '{"n":1}' })).toEqual({
      status: 'completed',
    })
    expect((await engine.jobs.get(String(id))).args).toBe('{"n":1}')
    await healthy()
  })

  test('that is given back under another class accepts only the input of that class', async () => {
    const schema = (type: string) => ({ pull: true, in: { n: { schema: encodeValue({ type }) } } })
    await engine.workers.register('q', 'texts', schema('string'))
    await engine.workers.register('q', 'numbers', schema('integer'))
    const id = await make('texts')
    const write = (value: unknown) => engine.ports.write(String(id), 'in', 'n', [encodeValue(value)], {})
    await expect(write(1)).rejects.toThrow('of class texts')
    await claim(['texts'])
    await engine.deliveries.requeue(String(id), { class: 'numbers' })
    await write(1)
    await expect(write('one')).rejects.toThrow('of class numbers')
  })

  test('has no effect after requeue', async () => {
    const id = await make('job')
    const [run] = await claim()
    await engine.deliveries.requeue(String(id), { class: 'renamed' })
    await expect(engine.runs.commit(run!.run.token, { end: 'completed' })).rejects.toMatchObject({ code: 'LOST' })
    expect(await engine.jobs.get(String(id))).toMatchObject({ status: 'queued', class: 'renamed' })
    expect((await claim(['renamed'])).map(({ job }) => job.id)).toEqual([id])
    await healthy()
  })

  test('a parent waits again for a child that is requeued after its end', async () => {
    const parent = await make('parent')
    const run = await one('parent')
    const [a, b] = [
      await make('a', { parent: String(parent), joins: true }),
      await make('b', { parent: String(parent), joins: true }),
    ]
    await engine.runs.commit(run.run.token, { end: 'suspended', waitFor: 'children' })
    await engine.deliveries.finish(String((await one('a')).job.id), { end: 'completed' })
    await engine.deliveries.requeue(String(a))
    await engine.runs.commit((await one('b')).run.token, { end: 'completed' })
    expect([await status(b), await status(parent)]).toEqual(['completed', 'suspended'])
    await engine.runs.commit((await one('a')).run.token, { end: 'completed' })
    expect(await status(parent)).toBe('queued')
    await healthy()
  })
})

test('a unique key can hold until the job is deleted, be ignored, and be tied to a parent', async () => {
  const unique = { unique: 'k', retain: 86_400_000 }
  const id = await make('job', { ...unique, uniqueness: { held: 'deleted' } })
  await engine.runs.commit((await one('job')).run.token, { end: 'completed' })
  expect(await make('job', unique)).toBe(id)
  const other = await make('job', { ...unique, uniqueness: { hit: 'ignored' } })
  expect(other).not.toBe(id)
  await engine.jobs.remove(String(id), { force: true })
  expect(await make('job', unique)).not.toBe(id)
  const parent = await make('parent')
  await one('parent')
  const child = await make('child', { parent: String(parent), joins: true, unique: 'c' })
  const tied = { unique: 'c', uniqueness: { hit: 'same parent' as const } }
  await expect(make('child', tied)).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(await make('child', { ...tied, parent: String(parent), joins: true })).toBe(child)
  await healthy()
})

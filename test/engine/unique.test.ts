import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { check } from '../../src/core/issues.ts'
import { jobInput, jobInputs } from '../../src/core/schemas.ts'
import { type Kit, startKit } from '../kit/index.ts'

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ hold: true })
  await kit.engine.workers.register('q', 'job', { pull: true })
})
afterAll(() => kit.close())
afterEach(async () => {
  expect(await kit.engine.doctor.verify()).toEqual([])
})

async function make(unique: unknown, more: object = {}): Promise<number> {
  const input = jobInput.parse({ queue: 'q', class: 'job', unique, ...more })
  return (await kit.engine.jobs.enqueue([input as never])).jobs[0]!.id
}

async function claim(id: number, tags?: string[]) {
  const runs = await kit.engine.runs.claim('q', { max: 10, tags })
  return runs.find(({ job }) => job.id === id)!.run.token
}

const complete = (token: string) => kit.engine.runs.commit(token, { end: 'completed' })

test.each(['plain', { key: 'object' }, { key: 'ended', until: 'ended' }])(
  '%j holds until the job has ended',
  async (unique) => {
    const id = await make(unique)
    expect(await make(unique)).toBe(id)
    const token = await claim(id)
    expect(await make(unique)).toBe(id)
    await complete(token)
    const next = await make(unique)
    expect(next).not.toBe(id)
    await complete(await claim(next))
  },
)

test('until started: only one job can wait, and another may wait while the first runs', async () => {
  const unique = { key: 'started', until: 'started' }
  const id = await make(unique)
  expect(await make(unique)).toBe(id)
  const token = await claim(id)
  const next = await make(unique)
  expect(next).not.toBe(id)
  await complete(token)
  expect(await make(unique)).toBe(next)
  await kit.engine.jobs.terminate(String(next), {})
  const last = await make(unique)
  expect(last).not.toBe(next)
  await complete(await claim(last))
})

test('until deleted: the key holds also after the end of its job', async () => {
  const unique = { key: 'deleted', until: 'deleted' }
  const id = await make(unique)
  await complete(await claim(id))
  expect(await make(unique)).toBe(id)
  await kit.engine.jobs.remove(String(id), { force: true })
  const next = await make(unique)
  expect(next).not.toBe(id)
  await complete(await claim(next))
})

test('for a period: the key holds for any outcome of the job, and no longer', async () => {
  const unique = { key: 'period', for: '1 hour' }
  const id = await make(unique)
  await complete(await claim(id))
  await kit.advance(3_590_000)
  expect(await make(unique)).toBe(id)
  await kit.advance(11_000)
  const next = await make(unique)
  expect(next).not.toBe(id)
  await complete(await claim(next))
})

test('for a period: the key holds also if the job is gone earlier', async () => {
  const unique = { key: 'gone', for: '1 hour' }
  const id = await make(unique, { retain: 0 })
  await complete(await claim(id))
  await expect(kit.engine.jobs.get(String(id))).rejects.toMatchObject({ code: 'NOT_FOUND' })
  const { jobs } = await kit.engine.jobs.enqueue([jobInput.parse({ queue: 'q', class: 'job', unique }) as never])
  expect(jobs).toEqual([{ id, status: 'completed', existing: true }])
  await kit.advance(3_601_000)
  const next = await make(unique)
  expect(next).not.toBe(id)
  await complete(await claim(next))
})

const debounced = (more = {}) => ({ key: 'debounced', debounce: { wait: '30 seconds', ...more } })

test('debounced: the job starts one delay after the last request, with the newest args', async () => {
  const id = await make(debounced(), { args: '1' })
  for (let n = 2; n < 5; n++) {
    await kit.advance(20_000)
    expect(await make(debounced(), { args: String(n) })).toBe(id)
  }
  await kit.advance(29_000)
  expect(await kit.engine.runs.claim('q', {})).toEqual([])
  await kit.advance(1_500)
  const [run] = await kit.engine.runs.claim('q', {})
  expect(run!.job).toMatchObject({ id, args: '4' })
  const next = await make(debounced(), { args: '5' })
  expect(next).not.toBe(id)
  await complete(run!.run.token)
  await kit.advance(30_500)
  await complete(await claim(next))
})

test('debounced: the job starts at most the maximum delay after the first request', async () => {
  const id = await make(debounced({ max: '1 minute' }))
  for (let n = 0; n < 3; n++) {
    await kit.advance(19_000)
    expect(await make(debounced({ max: '1 minute' }))).toBe(id)
  }
  await kit.advance(3_500)
  await complete(await claim(id))
})

test('debounced: the last job of a bulk request counts, and a repeated request changes nothing', async () => {
  const one = (n: number) => ({ queue: 'q', class: 'job', args: String(n), unique: debounced() })
  const inputs = check(jobInputs, [one(1), one(2), { ...one(3), unique: 'other' }, one(4)]) as never
  const ask = () => kit.engine.jobs.enqueue(inputs, { key: 'bulk', fingerprint: 'f' })
  const { jobs } = await ask()
  const [id, , other] = jobs.map((job) => job.id) as [number, number, number]
  expect(jobs.map(({ existing }) => existing)).toEqual([undefined, true, undefined, true])
  expect(jobs.map((job) => job.id)).toEqual([id, id, other, id])
  const shown = () => kit.engine.jobs.get(String(id))
  const { runAt, args } = await shown()
  expect(args).toBe('4')
  await kit.advance(20_000)
  expect(await ask()).toMatchObject({ jobs: [{ id }, { id }, { id: other }, { id }], existing: true })
  expect((await shown()).runAt).toBe(runAt)
  await kit.advance(10_500)
  for (const run of await kit.engine.runs.claim('q', { max: 10 })) await complete(run.run.token)
})

test('debounced: new args count against the constraints that match them', async () => {
  const match = { queue: 'q', args: { customer: 'big' } }
  await kit.engine.constraints.set('big', { match, concurrency: 1 } as never)
  const limitsOf = async (id: number) => (await kit.store.inspect(String(id))).document.limits
  const id = await make(debounced(), { args: '{"customer":"small"}' })
  expect(await limitsOf(id)).toBeUndefined()
  expect(await make(debounced(), { args: '{"customer":"big"}' })).toBe(id)
  expect(await limitsOf(id)).toMatch(/big/)
  expect(await make(debounced(), { args: '{"customer":"small"}' })).toBe(id)
  expect(await limitsOf(id)).toBeUndefined()
  await kit.engine.constraints.remove('big')
  await kit.advance(30_500)
  await complete(await claim(id))
})

const faults: [object, (string | number)[], string][] = [
  [{ unique: { key: 'k', until: 'started', for: 1 } }, ['unique', 'for'], 'expected "until" or "for", got both'],
  [{ unique: { ...debounced(), until: 'ended' } }, ['unique', 'debounce'], 'expected "until" or "debounce", got both'],
  [{ unique: { ...debounced(), for: 1 } }, ['unique', 'debounce'], 'expected "for" or "debounce", got both'],
  [{ unique: debounced({ max: 1 }) }, ['unique', 'debounce', 'max'], 'must be at least "wait"'],
  [{ unique: debounced({ wait: 0 }) }, ['unique', 'debounce', 'wait'], 'expected a duration above 0'],
  [{ unique: debounced({ delay: 1 }) }, ['unique', 'debounce', 'delay'], 'unknown member'],
  [{ unique: debounced(), at: 1 }, ['at'], 'expected "at" or unique.debounce, got both'],
  [{ unique: debounced(), wait: 1 }, ['wait'], 'expected "wait" or unique.debounce, got both'],
  [{ unique: debounced(), inputs: {} }, ['inputs'], 'expected "inputs" or unique.debounce, got both'],
  [{ unique: debounced(), repeat: 'FINISHED, +1 HOUR' }, ['repeat'], 'expected "repeat" or unique.debounce, got both'],
]

test.each(faults)('%j is refused', (input, path, message) => {
  expect(() => check(jobInput, { class: 'job', ...input })).toThrow(
    expect.objectContaining({ path, message: expect.stringContaining(message) }),
  )
})

test('a tag is refused for a class that sidejob calls, because calls have no tags', async () => {
  const tagged = { queue: 'q', class: 'pushed', tag: 'blue' }
  await kit.engine.workers.register('q', 'pushed', { push: { url: 'http://127.0.0.1:9/' } })
  const make = (...inputs: object[]) => kit.engine.jobs.enqueue(inputs as never)
  const message = 'tag: expected a class that pull workers serve, got class pushed of queue q'
  await expect(make(tagged)).rejects.toMatchObject({ code: 'REFUSED', message, path: ['tag'] })
  await expect(make({ queue: 'q', class: 'job' }, tagged)).rejects.toMatchObject({ path: [1, 'tag'] })
  expect((await kit.engine.jobs.list({ queue: 'q', status: 'queued' })).jobs).toEqual([])
})

test('a job with a tag waits for a claim with the tag, even if sidejob now calls its class', async () => {
  const id = await make(undefined, { tag: 'blue' })
  await kit.engine.workers.register('q', 'job', { push: { url: 'http://127.0.0.1:9/' } })
  expect((await kit.engine.jobs.why(String(id))).reasons[0]!.message).toContain('with tag blue')
  await complete(await claim(id, ['blue']))
  await kit.engine.workers.register('q', 'job', { pull: true })
})

test('a job with a tag is leased to claims with the tag, and leaves after its own timeout', async () => {
  const id = await make(undefined, { tag: 'blue', retain: '1 minute' })
  expect(await kit.engine.runs.claim('q', {})).toEqual([])
  await complete(await claim(id, ['blue']))
  await kit.advance(61_000)
  await kit.engine.tick()
  await expect(kit.engine.jobs.get(String(id))).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

// How long a unique key holds: what a caller of the API can say.

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { jobInput } from '../../src/core/schemas.ts'
import { type Kit, startKit } from '../kit.ts'

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ hold: true })
  await kit.engine.register('q', 'job', { pull: true })
})
afterAll(() => kit.close())
afterEach(async () => {
  expect(await kit.engine.verify()).toEqual([])
})

/** Asked for as over HTTP; answers the id. */
async function make(unique: unknown, more: object = {}): Promise<number> {
  const input = jobInput.parse({ queue: 'q', class: 'job', unique, ...more })
  return (await kit.engine.enqueue([input as never])).jobs[0]!.id
}

async function claim(id: number, tags?: string[]) {
  const runs = await kit.engine.claim('q', { max: 10, tags })
  return runs.find(({ job }) => job.id === id)!.run.token
}

const complete = (token: string) => kit.engine.commit(token, { end: 'completed' })

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

test('until started: while it waits it is one, while it runs another may wait', async () => {
  const unique = { key: 'started', until: 'started' }
  const id = await make(unique)
  expect(await make(unique)).toBe(id)
  const token = await claim(id)
  const next = await make(unique)
  expect(next).not.toBe(id)
  await complete(token)
  expect(await make(unique)).toBe(next)
  await kit.engine.terminate(String(next), {})
  const last = await make(unique)
  expect(last).not.toBe(next)
  await complete(await claim(last))
})

test('until deleted: also after its end', async () => {
  const unique = { key: 'deleted', until: 'deleted' }
  const id = await make(unique)
  await complete(await claim(id))
  expect(await make(unique)).toBe(id)
  await kit.engine.remove(String(id), { force: true })
  const next = await make(unique)
  expect(next).not.toBe(id)
  await complete(await claim(next))
})

test('for a period: whatever becomes of it, and no longer', async () => {
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

test('both an end and a period are refused', () => {
  const { error } = jobInput.safeParse({ class: 'job', unique: { key: 'k', until: 'started', for: 1 } })
  expect(error!.issues[0]).toMatchObject({ message: 'expected "until" or "for", got both' })
})

test('a job with a tag is lent to who asks for the tag, and goes when its own time is over', async () => {
  const id = await make(undefined, { tag: 'blue', retain: '1 minute' })
  expect(await kit.engine.claim('q', {})).toEqual([])
  await complete(await claim(id, ['blue']))
  await kit.advance(61_000)
  await kit.engine.tick()
  await expect(kit.engine.get(String(id))).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

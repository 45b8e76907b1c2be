import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEngine } from '../../src/engine/index.ts'
import { defineWorker } from '../../src/index.ts'
import { createClient } from '../../src/redis/client.ts'
import { type Kit, startKit } from '../kit/index.ts'
import { type Receiver, startReceiver } from '../kit/receiver.ts'

const keys: string[] = []
const charging = defineWorker({ class: 'charging', perform: (job) => void keys.push(job.effectKey('charge')) })

let kit: Kit
let receiver: Receiver
beforeAll(async () => {
  kit = await startKit({ workers: [charging] })
  receiver = await startReceiver()
})
afterAll(async () => {
  await kit.close()
  await receiver.close()
})

const isolate = () => createEngine({ ...kit.engineOptions, workers: [charging] })

async function charge(engine: ReturnType<typeof isolate>): Promise<number> {
  const callback = { url: `${receiver.url}/hook` }
  const { jobs } = await engine.jobs.enqueue([{ queue: 'default', class: 'charging', callback }])
  const { id } = jobs[0]!
  const came = receiver.came.length
  await kit.rest(id, 'completed')
  await kit.until(() => receiver.came.length > came)
  await kit.until(async () => (await engine.jobs.get(String(id))).callback?.state === 'DELIVERED')
  return id
}

async function goBackBefore(id: number) {
  const last = await kit.store.lastId()
  for (let job = last; job >= id; job--) await kit.engine.jobs.remove(String(job), { force: true })
  await createClient(kit.options).ask((redis) =>
    redis.mset({ [kit.store.keys.lastId]: id - 1, [kit.store.keys.highestId]: id - 1 }),
  )
}

test('a job with a reused id has other effect keys and other callback ids', async () => {
  const first = await charge(isolate())
  await goBackBefore(first)
  expect(await charge(isolate())).toBe(first)
  expect(new Set(keys).size).toBe(2)
  expect(new Set(receiver.came.map(({ headers }) => headers['webhook-id'])).size).toBe(2)
})

test('a caller learns of a restore, its next job has a new id, and health reports the restore', async () => {
  const engine = isolate()
  const health = await engine.health()
  expect(health).toMatchObject({ ok: true, redis: true, version: expect.any(String) })
  for (const sign of ['restored', 'problems'] as const) expect(health[sign]).toBeUndefined()
  const lost = await charge(engine)
  await goBackBefore(lost)
  const next = await charge(engine)
  expect(next).toBeGreaterThan(lost)
  expect(await engine.health()).toMatchObject({ ok: true, restored: { times: 1, lost: { from: lost } } })
})

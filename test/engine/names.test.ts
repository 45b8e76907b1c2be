import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEngine } from '../../src/engine/index.ts'
import { createApp } from '../../src/http/app.ts'
import { defineWorker, port } from '../../src/index.ts'
import { drain } from '../../src/testing/drain.ts'
import { type Kit, startKit } from '../kit/index.ts'

const seen: unknown[] = []
const keys: string[] = []
const parent = defineWorker({
  class: 'parent',
  async perform(job) {
    if (Object.hasOwn(job.children, '__proto__')) {
      seen.push(Object.keys(await job.allChildren()).sort())
      return undefined
    }
    job.spawn('__proto__', { class: 'leaf' })
    job.spawn('other', { class: 'leaf' })
    return job.suspend()
  },
})
const leaf = defineWorker({ class: 'leaf', perform: (job) => void keys.push(job.effectKey('pay')) })
const states: unknown[] = []
const counter = defineWorker({
  class: 'counter',
  in: { go: port() },
  perform(job) {
    states.push(job.get('__proto__'))
    job.set(Object.fromEntries([['__proto__', `run ${states.length}`]]))
  },
})
const waiting: number[] = []
const builder = defineWorker({
  class: 'builder',
  in: { constructor: port() },
  perform: (job) => void waiting.push(job.size('constructor')),
})
const workers = [parent, leaf, counter, builder]

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ workers })
})
afterAll(() => kit.close())

test('a child named __proto__ is in the tree and in the run', async () => {
  const id = await kit.make('parent')
  await kit.until(async () => (await kit.engine.jobs.get(String(id))).children.other?.status === 'completed')
  if (seen.length === 0) await kit.engine.jobs.run(String(id), {})
  await kit.until(() => seen.length > 0)
  const { children } = (await kit.engine.jobs.tree(String(id))) as { children: Record<string, unknown> }
  expect(Object.keys(children).sort()).toEqual(['__proto__', 'other'])
  expect(seen[0]).toEqual(['__proto__', 'other'])
})

test('a job whose input port is named constructor runs while no value waits there', async () => {
  const id = await kit.make('builder')
  await kit.until(async () => (await kit.engine.jobs.get(String(id))).status === 'completed')
  expect(waiting).toEqual([0])
})

test('a state field named __proto__ is kept for the next run, and shown over HTTP', async () => {
  const id = await kit.make('counter')
  await kit.until(async () => (await kit.engine.jobs.get(String(id))).status === 'completed')
  const app = createApp({
    engine: kit.engine,
    verify: async () => true,
    publicUrl: 'http://127.0.0.1:1',
  })
  const shown = async () => {
    const headers = { authorization: 'Bearer dev' }
    return (await app.request(`/v1/jobs/${id}/state`, { headers })).text()
  }
  expect(await shown()).toContain('"__proto__":"run 1"')
  await kit.engine.jobs.run(String(id), {})
  await kit.until(() => states.length === 2)
  expect(states).toEqual([undefined, 'run 1'])
  await kit.until(async () => (await shown()).includes('run 2'))
})

test('jobs of two tenants with the same id and time have different effect keys', async () => {
  keys.length = 0
  for (const tenant of ['acme', 'globex']) {
    const engine = createEngine({ ...kit.engineOptions, workers, namespace: `sidejob:t:${tenant}:`, tenant })
    await engine.jobs.enqueue([{ queue: 'default', class: 'leaf' } as never])
    await drain(engine)
  }
  expect(keys[0]).toMatch(/^sidejob:t:acme:1-/)
  expect(keys[1]).toMatch(/^sidejob:t:globex:1-/)
})

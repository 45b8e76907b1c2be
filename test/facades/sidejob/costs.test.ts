import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineWorker } from '../../../src/index.ts'
import { read } from '../../docs/pages.ts'
import { type Desk, startDesks } from './kit.ts'

const pass = defineWorker({
  class: 'pass',
  in: { in: {} },
  out: { out: {} },
  async perform(job) {
    job.write('out', await job.read('in'))
  },
})
const noop = defineWorker({ class: 'noop', perform: () => undefined })
const idle = defineWorker({ class: 'idle', in: { in: {} }, perform: (job) => job.suspend() })

let desks: Awaited<ReturnType<typeof startDesks>>
beforeAll(async () => {
  // `short` makes every batch count as fast, so that the number of runs per call does not depend on their speed.
  desks = await startDesks([pass, noop, idle], { lane: { short: Number.POSITIVE_INFINITY } })
})
afterAll(() => desks.close())

type Cost = (desk: Desk) => Promise<() => Promise<unknown>>

const serve = (desk: Desk) => () => desk.engine.dispatch('default', 'none')

async function resting(desk: Desk, className = 'noop', making = {}): Promise<number> {
  const id = await desk.make(className, making)
  await desk.once(id)
  return id
}

const many = (n: number, more: object) =>
  Array.from({ length: n }, () => ({ queue: 'default', class: 'pass', ...more }))

const listeners =
  (n: number): Cost =>
  async (desk) => {
    await desk.engine.jobs.enqueue(many(n, { class: 'idle', in: { in: { channels: ['/a'] } } }))
    await desk.drain()
    return () => desk.publish('/a', 1)
  }

const BULK = '1,000 runs with one read and one write'

const costs: Record<string, Cost> = {
  'create a job': async (desk) => () => desk.make('noop'),
  'create 1,000 jobs': async (desk) => () => desk.engine.jobs.enqueue(many(1_000, {})),
  async 'create a child with two ports'(desk) {
    const parent = await resting(desk)
    return () => desk.make('pass', { parent, name: 'a' })
  },
  async 'write to an input of an idle job'(desk) {
    const job = await resting(desk, 'idle')
    return () => desk.put(job, 'in', 1)
  },
  async 'read a value'(desk) {
    const job = await desk.make('idle', { inputs: { in: [1] } })
    return () => desk.read(job, 'in', 'in')
  },
  async 'read the state'(desk) {
    const job = await resting(desk)
    return () => desk.state(job)
  },
  async 'look at a job'(desk) {
    const job = await resting(desk)
    return () => desk.view(job)
  },
  'write a log entry': async (desk) => () => desk.engine.log.write('{}' as never),
  async 'lock and unlock'(desk) {
    const job = String(await resting(desk))
    return async () => {
      const { token } = await desk.engine.jobs.lock(job, { ttl: 60_000 })
      await desk.engine.jobs.unlock(job, { token })
    }
  },
  async 'connect two values to an idle job'(desk) {
    const [from, to] = [await resting(desk, 'idle', { out: { out: {} } }), await resting(desk, 'idle')]
    await desk.write(from, 'out', 'out', [1, 2])
    return () => desk.connect(from, 'out', 'out', { job: to, in: 'in' })
  },
  async 'a run with one read and one write, alone'(desk) {
    await desk.make('pass', { inputs: { in: [1] } })
    return serve(desk)
  },
  async 'a run with one read and one write, and the run of its parent'(desk) {
    const parent = await resting(desk)
    await desk.make('pass', { parent, name: 'a', inputs: { in: [1] } })
    return serve(desk)
  },
  async 'a run that does nothing, alone'(desk) {
    await desk.make('noop')
    return serve(desk)
  },
  async [BULK](desk) {
    await desk.engine.jobs.enqueue(many(1_000, { inputs: { in: ['1'] } }))
    await desk.engine.queues.update('default', { lanes: 20 })
    return serve(desk)
  },
  'a message to 1 idle listener': listeners(1),
  'a message to 50 idle listeners': listeners(50),
  async 'terminate a job'(desk) {
    const job = await resting(desk)
    return () => desk.terminate(job)
  },
  async 'delete a job'(desk) {
    const job = await resting(desk)
    await desk.terminate(job)
    return () => desk.remove(job)
  },
  async 'list the 10 children of a job'(desk) {
    const parent = await resting(desk)
    for (let i = 0; i < 10; i++) await desk.make('noop', { parent, name: `c${i}` })
    return () => desk.view(parent)
  },
}

async function count(cost: Cost): Promise<number> {
  const desk = desks.desk()
  await desk.engine.tick()
  const act = await cost(desk)
  const before = desks.kit.gateway.counters.requests
  await act()
  return desks.kit.gateway.counters.requests - before
}

test('the round trips of docs/compat/sidejob.md match the counted ones', async () => {
  const table = read('docs/compat/sidejob.md').split('## What it costs')[1]!.split('## ')[0]!
  const rows = [...table.matchAll(/^\| ([^|]+) \| (\d+) \| (\d+) \|$/gm)]
  const said = Object.fromEntries(rows.map(([, what, , ours]) => [what, Number(ours)]))
  const counted: Record<string, number> = {}
  for (const [what, cost] of Object.entries(costs)) {
    // The first run loads the scripts.
    await count(cost)
    counted[what] = await count(cost)
  }
  // The page states a maximum, because the number of runs per call depends on their speed.
  const [most, needed] = [said[BULK]!, counted[BULK]!]
  expect(needed).toBeLessThanOrEqual(most)
  expect({ ...counted, [BULK]: most }).toEqual(said)
})

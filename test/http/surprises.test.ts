// These behaviours surprised readers who knew only the README.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { core } from '../../functions/core.ts'
import { createApp } from '../../src/http/app.ts'
import { defineWorker, port, Terminal } from '../../src/index.ts'
import { drain } from '../../src/testing/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

const DAY = 86_400_000

const double = defineWorker({
  queue: 'core',
  class: 'double',
  in: { n: port(z.number()) },
  out: { doubled: port(z.number()) },
  async perform(job) {
    for await (const { n } of job.inputs('n')) job.write('doubled', 2 * n)
  },
})
const nop = defineWorker({ class: 'nop', perform: () => undefined })
const broken = defineWorker({
  queue: 'core',
  class: 'broken',
  in: { n: port() },
  perform() {
    throw new Terminal('no paper left')
  },
})

let kit: Kit
let app: ReturnType<typeof createApp>
beforeAll(async () => {
  kit = await startKit({ workers: [...core, double, broken, nop], hold: true })
  app = createApp({ engine: kit.engine, verify: async () => false, publicUrl: 'http://127.0.0.1' })
})
afterAll(() => kit.close())

async function ask(method: string, path: string, body?: unknown) {
  const headers = { authorization: 'Bearer dev', 'content-type': 'application/json' }
  const answer = await app.request(path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
  return { status: answer.status, body: await answer.json() }
}
const settle = () => drain(kit.engine, { errors: 'keep' })
const make = async (input: object) => (await ask('POST', '/v1/jobs', input)).body.id as number

test('a job with inputs whose class is not registered is refused because of its class', async () => {
  const { status, body } = await ask('POST', '/v1/jobs', { class: 'forgotten', inputs: { n: [1] } })
  expect(status).toBe(422)
  expect(body.error.message).toBe('class forgotten is not registered for queue default')
})

test('a delayed job that is run manually does not run again at its time', async () => {
  const id = await make({ class: 'nop', wait: '1 day' })
  expect((await ask('POST', `/v1/jobs/${id}/run`, {})).body.status).toBe('queued')
  await settle()
  expect((await ask('GET', `/v1/jobs/${id}`)).body).toMatchObject({ status: 'completed', runAt: null })
  await kit.advance(DAY)
  await kit.engine.tick()
  expect(await settle()).toEqual([])
})

test('a schedule with a used key returns 200 and the unchanged repeat of the existing schedule', async () => {
  const first = { class: 'nop', unique: 'nightly', repeat: { cron: '0 3 * * *' } }
  const made = await ask('POST', '/v1/schedules', first)
  expect(made.status).toBe(201)
  const again = await ask('POST', '/v1/schedules', { ...first, repeat: { cron: '0 4 * * *' } })
  expect(again).toEqual({ status: 200, body: { ...made.body, existing: true, repeat: { cron: '0 3 * * *' } } })
  await ask('POST', `/v1/jobs/${made.body.id}/terminate`, {})
})

test('unique cannot be patched, and is not offered', async () => {
  const { status, body } = await ask('PATCH', `/v1/jobs/${await make({ class: 'nop' })}`, { unique: 'k' })
  expect([status, body.error.message, body.error.path]).toEqual([400, 'unique: unknown member', ['unique']])
  await settle()
})

test('a truncated tree is marked', async () => {
  const id = await make({ class: 'nop' })
  for (const name of ['a', 'b', 'c']) await make({ class: 'nop', parent: id, name })
  const cut = (await ask('GET', `/v1/jobs/${id}/tree?limit=2`)).body
  expect([Object.keys(cut.children).length, cut.more]).toEqual([1, true])
  const whole = (await ask('GET', `/v1/jobs/${id}/tree?limit=4`)).body
  expect([Object.keys(whole.children).length, whole.more]).toEqual([3, undefined])
  await settle()
})

test('why uses the singular for one attempt and one value', async () => {
  const id = await make({ queue: 'core', class: 'broken', inputs: { n: [1] } })
  await settle()
  const { reasons } = (await ask('GET', `/v1/jobs/${id}/why`)).body
  expect(reasons.map(({ message }: { message: string }) => message)).toEqual([
    'failed after 1 attempt; only a retry or a run with force wakes it',
    '1 value waits on port n',
  ])
})

describe('ports that a class declares with *', () => {
  test('are empty before their first write, and have the default of *', async () => {
    const id = await make({ queue: 'core', class: 'broken', in: { '*': { default: 7 } } })
    expect(await ask('GET', `/v1/jobs/${id}/in/later`)).toEqual({
      status: 200,
      body: { size: 0, taken: 0, channels: [], default: 7, values: [] },
    })
    expect((await ask('GET', `/v1/jobs/${id}`)).body.in).not.toHaveProperty('later')
    expect((await ask('GET', `/v1/jobs/${id}/out/later`)).status).toBe(422)
    await settle()
  })

  test('the output of a flow is shown before its node has begun', async () => {
    const graph = {
      nodes: { d: { queue: 'core', class: 'double' } },
      inports: { n: { node: 'd', inport: 'n' } },
      outports: { doubled: { node: 'd', outport: 'doubled' } },
    }
    const id = await make({ queue: 'core', class: 'flow', inputs: { __graph: [graph], n: [4] } })
    expect(await ask('GET', `/v1/jobs/${id}/out/doubled`)).toMatchObject({ status: 200, body: { size: 0, values: [] } })
    await settle()
    expect((await ask('GET', `/v1/jobs/${id}/out/doubled`)).body.values).toMatchObject([{ data: 8 }])
  })
})

describe('graphs', () => {
  const flow = async (graph: object) => {
    const id = await make({ queue: 'core', class: 'flow', inputs: { __graph: [graph] } })
    await settle()
    return id
  }
  const nodes = { each: { queue: 'core', class: 'each' }, double: { queue: 'core', class: 'double' } }
  const graph = (inport: string) => ({
    nodes,
    edges: [{ from: { node: 'each', outport: 'out' }, to: { node: 'double', inport } }],
  })

  test('a port that the class of a node does not have is refused, in a preview too', async () => {
    const id = await flow({ nodes: {} })
    const { each: _, ...rest } = nodes
    for (const path of ['graph', 'graph?preview=true']) {
      const { status, body } = await ask('PUT', `/v1/flows/${id}/${path}`, graph('m'))
      expect(status, body.error?.message).toBe(422)
      expect(body.error).toMatchObject({
        path: ['edges', 0, 'to', 'inport'],
        message: 'edges.0.to.inport: node double (double) has no input port "m"; it has n',
      })
    }
    const out = { nodes: rest, outports: { x: { node: 'double', outport: 'y' } } }
    expect((await ask('PUT', `/v1/flows/${id}/graph`, out)).body.error.path).toEqual(['outports', 'x', 'outport'])
    expect((await ask('PUT', `/v1/flows/${id}/graph`, graph('n'))).status).toBe(200)
    await settle()
  })

  test('a failed flow shows the error of its node', async () => {
    const node = { queue: 'core', class: 'broken', inports: { n: { init: [1] } } }
    const id = await flow({ nodes: { printer: node } })
    const { status, error } = (await ask('GET', `/v1/jobs/${id}`)).body
    expect([status, error.message]).toEqual(['failed', `node printer (job ${id + 1}) failed: no paper left`])
  })
})

describe('PUT accepts the output of GET: durations have the same unit in both', () => {
  const retry = { max: 3, backoff: { base: 0.5, factor: 2, cap: 3600, jitter: 0, delays: [0.25, 90] } }
  const worker = {
    pull: true,
    timeout: 1.5,
    retain: 86_400,
    retry,
    redeliver: { after: 600, max: 3 },
    limits: [{ key: 'api', rate: { limit: 2, period: 60 } }],
  }
  test.each([
    ['/v1/limits/mine', { rate: { limit: 5, period: 1 }, concurrency: 3 }, { rate: { limit: 5, period: 1 } }],
    [
      '/v1/constraints/mine',
      { match: { class: 'x' }, rate: { limit: 5, period: '1m' } },
      { rate: { limit: 5, period: 60 } },
    ],
    ['/v1/workers/units/mine', worker, worker],
  ])('%s', async (path, given, shown) => {
    const read = async () => {
      if (!path.startsWith('/v1/workers')) return (await ask('GET', path)).body
      const { workers } = (await ask('GET', '/v1/workers')).body
      const {
        queue,
        class: name,
        seen,
        servedBy,
        ...definition
      } = workers.find((one: { queue: string }) => one.queue === 'units')
      expect([queue, name, seen, servedBy]).toEqual(['units', 'mine', null, []])
      return definition
    }
    expect((await ask('PUT', path, given)).body).toMatchObject(shown)
    const first = await read()
    expect(first).toMatchObject(shown)
    expect((await ask('PUT', path, first)).status).toBe(200)
    expect(await read()).toEqual(first)
  })

  test('/v1/limits/:key/holders', async () => {
    const { limit } = (await ask('GET', '/v1/limits/mine/holders')).body
    expect(limit).toMatchObject({ started: 0, fullSince: null, nextRoom: null, shutUntil: null })
    expect((await ask('PUT', '/v1/limits/mine', limit)).status).toBe(200)
    const typo = (await ask('PUT', '/v1/limits/mine', { ...limit, concurency: 1 })).body.error
    expect(typo.message).toMatch(/concurency/)
    expect((await ask('GET', '/v1/limits/mine/holders')).body.limit).toEqual(limit)
  })

  test('/v1/queues', async () => {
    const ageing = async () => {
      const { queues } = (await ask('GET', '/v1/queues')).body
      return queues.find(({ name }: { name: string }) => name === 'units').ageing
    }
    for (const given of ['1 minute', 60]) {
      await ask('PATCH', '/v1/queues/units', { ageing: given })
      expect(await ageing()).toBe(60)
    }
    expect((await kit.engine.queues.list()).queues.find(({ name }) => name === 'units')!.ageing).toBe(60_000)
    await ask('PATCH', '/v1/queues/units', { ageing: null })
    await ask('DELETE', '/v1/constraints/mine')
  })
})

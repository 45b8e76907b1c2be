// Flows through the API: graphs that change while they run, what is at their wires, and graphs that are stored.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { createApp } from '../../src/http/app.ts'
import { type Kit, startKit } from '../kit.ts'
import { chain, edge, type Graph, inOf, node, outOf, startFlow, workers } from './kit.ts'

let kit: Kit
let client: ReturnType<typeof createClient>
beforeAll(async () => {
  kit = await startKit({ hold: true, workers, apiKey: 'dev' })
  const app = createApp({ engine: kit.engine, verify: async () => false, publicUrl: 'http://127.0.0.1' })
  const fetch = (...args: Parameters<typeof globalThis.fetch>) => Promise.resolve(app.request(...(args as [string])))
  client = createClient({ url: 'http://127.0.0.1', key: 'dev', fetch })
})
afterAll(async () => {
  expect(await kit.engine.verify()).toEqual([])
  await kit.close()
})

/** x → a → ask, which keeps what it gets. */
const asking: Graph = {
  nodes: { a: node('connect'), ask: node('asker') },
  edges: [edge('a.out', 'ask.in')],
  inports: { x: inOf('a.in') },
}

async function running(graph: Graph, inputs: Record<string, unknown[]> = {}) {
  const flow = await startFlow(kit, graph)
  await flow.settle()
  await flow.run(inputs)
  return flow
}

const wiresOf = async (id: number) => {
  const { wires } = await client.flows.wires(id)
  return Object.fromEntries(wires.map(({ id: name, ...wire }) => [name, wire]))
}

describe('a graph changes while it runs', () => {
  test('a preview says what would start, stop, be rewired and left behind, and does nothing', async () => {
    const flow = await running(asking, { x: [1, 2] })
    const ask = Number(await flow.child('ask'))
    const next: Graph = {
      nodes: { a: node('connect'), d: node('double', { init: true }) },
      edges: [edge('a.out', 'd.in')],
      inports: { x: inOf('a.in') },
    }
    const before = await kit.engine.get(flow.ref)
    const wanted = {
      applied: false,
      start: ['d'],
      adopt: [],
      stop: [{ node: 'ask', job: ask }],
      replace: [],
      wires: { added: ['a.out>d.in'], removed: ['a.out>ask.in'] },
      orphaned: [{ node: 'ask', job: ask, dir: 'in', port: 'in', values: 2 }],
    }
    expect(await client.flows.setGraph(flow.id, next, { query: { preview: true } })).toEqual(wanted)
    expect(await client.flows.postGraph(flow.id, next, { query: { preview: true } })).toEqual(wanted)
    expect(await kit.engine.get(flow.ref)).toEqual(before)
    expect(await client.flows.setGraph(flow.id, next)).toEqual({ ...wanted, applied: true })
    await flow.settle()
    expect(Object.keys(await flow.children()).sort()).toEqual(['a', 'd'])
    expect(await kit.engine.look(String(ask), 'in', 'in')).toMatchObject({ size: 2 })
  })

  test('it is in force as soon as it is answered: jobs and values stay, new wires carry what waits, nothing is given twice', async () => {
    const first: Graph = {
      nodes: { a: node('connect', { inports: { in: { init: [0] } } }), ask: node('asker') },
      edges: [edge('a.out', 'ask.in')],
      inports: { x: inOf('a.in') },
    }
    const flow = await running(first, { x: [1] })
    const [a, ask] = [await flow.child('a'), await flow.child('ask')]
    await kit.engine.write(ask, 'out', 'out', ['7', '8'])
    await client.flows.setGraph(flow.id, {
      ...first,
      nodes: { ...first.nodes, ask2: node('asker') },
      edges: [...first.edges!, edge('ask.out', 'ask2.in'), edge('a.out', 'ask2.in')],
    })
    expect([await flow.child('a'), await flow.child('ask')]).toEqual([a, ask])
    expect(await kit.engine.look(await flow.child('ask2'), 'in', 'in')).toMatchObject({ size: 2 })
    await flow.run({ x: [2] })
    const values = async (job: string) =>
      (await kit.engine.look(job, 'in', 'in')).values.map(({ data }) => JSON.parse(data))
    expect(await values(ask)).toEqual([0, 1, 2])
    expect(await values(await flow.child('ask2'))).toEqual([7, 8, 2])
  })

  test('undo brings back the graph before, step by step', async () => {
    const graphs = [1, 2, 3].map((n) => chain(n, 'double'))
    const flow = await running(graphs[0]!)
    for (const graph of graphs.slice(1)) await client.flows.setGraph(flow.id, graph)
    await flow.run({ x: [1] })
    expect(await flow.take('y')).toEqual([8])
    const steps: number[] = []
    for (let n = 0; n < 2; n++) {
      await client.flows.undo(flow.id)
      await flow.run({ x: [1] })
      steps.push(...((await flow.take('y')) as number[]))
      steps.push(Object.keys((await client.flows.graph(flow.id)).nodes!).length)
    }
    expect(steps).toEqual([4, 2, 2, 1])
    await expect(client.flows.undo(flow.id)).rejects.toMatchObject({ code: 'WRONG_STATUS' })
  })

  test('a graph that cannot be applied changes nothing at all', async () => {
    const flow = await running(asking, { x: [1] })
    const before = await kit.engine.get(flow.ref)
    const wrong: Graph = {
      nodes: { a: node('connect'), b: node('nobody', { init: true }), ask: node('double') },
      edges: [edge('a.out', 'ask.in')],
    }
    await expect(client.flows.setGraph(flow.id, wrong)).rejects.toMatchObject({ code: 'REFUSED' })
    expect(await kit.engine.get(flow.ref)).toEqual(before)
    expect((await client.flows.graph(flow.id)).nodes).not.toHaveProperty('b')
    await expect(client.flows.setGraph(flow.id, { nodes: { a: { queue: 'core' } } } as never)).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      path: ['nodes', 'a', 'class'],
    })
  })

  test('a failed flow is mended by a graph without the node that failed', async () => {
    const graph: Graph = {
      nodes: { b: node('brittle'), c: node('double') },
      inports: { x: inOf('b.in'), y: inOf('c.in') },
      outports: { z: outOf('c.out') },
    }
    const flow = await running(graph, { x: ['bad'], y: [1] })
    expect(await flow.status()).toBe('failed')
    await client.flows.setGraph(flow.id, {
      nodes: { c: node('double') },
      inports: { y: inOf('c.in') },
      outports: { z: outOf('c.out') },
    })
    await flow.settle()
    expect([await flow.status(), await flow.take('z')]).toEqual(['completed', [2]])
  })

  test('only a flow has a graph, and one that has ended takes no other', async () => {
    const id = await kit.make('double', { queue: 'core' })
    await expect(client.flows.setGraph(id, {})).rejects.toMatchObject({ code: 'REFUSED' })
    await expect(client.flows.graph(id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const flow = await running(asking)
    await kit.engine.terminate(flow.ref, { recursive: true })
    await expect(client.flows.setGraph(flow.id, {})).rejects.toMatchObject({ code: 'WRONG_STATUS' })
  })

  test('graphs put at the same time are all applied, one after the other', async () => {
    const flow = await running(chain(2), { x: [1] })
    await Promise.all([3, 4, 5].map((n) => client.flows.setGraph(flow.id, chain(n))))
    await flow.run({ x: [2] })
    expect(await flow.take('y')).toEqual([1, 2])
    await client.flows.undo(flow.id)
    await flow.run({ x: [3] })
    expect(await flow.take('y')).toEqual([3])
  })
})

describe('wires', () => {
  test('say how many values wait, the oldest, and how many pass in a minute', async () => {
    const flow = await running(asking, { x: [[1], 2, 3] })
    const wires = await wiresOf(flow.id)
    expect(wires['x>a.in']).toMatchObject({
      from: { node: null, port: 'x' },
      to: { node: 'a', port: 'in' },
      laid: true,
      size: 0,
      oldest: null,
    })
    expect(wires['a.out>ask.in']).toMatchObject({ laid: true, size: 3, behind: 0, oldest: { data: [1] } })
    expect(wires['a.out>ask.in']!.rate).toBeGreaterThan(0)
  })

  test('a wire whose far node has not started is not laid, and nothing waits', async () => {
    const flow = await running(asking)
    expect((await wiresOf(flow.id))['a.out>ask.in']).toMatchObject({
      laid: false,
      size: 0,
      behind: 0,
      rate: 0,
      oldest: null,
    })
  })

  test('take values in, and give them out', async () => {
    const flow = await running(asking, { x: [1] })
    expect(await client.flows.inject(flow.id, 'a.out>ask.in', { values: [2, { three: 3 }] })).toEqual({ size: 3 })
    expect((await client.flows.drain(flow.id, 'a.out>ask.in', { max: 2 })).values.map(({ data }) => data)).toEqual([
      1, 2,
    ])
    expect((await client.flows.drain(flow.id, 'a.out>ask.in', {})).values.map(({ data }) => data)).toEqual([
      { three: 3 },
    ])
    expect(await client.flows.drain(flow.id, 'a.out>ask.in', {})).toEqual({ values: [] })
  })

  test('start the node that they end at', async () => {
    const flow = await running(chain(3, 'double'))
    await client.flows.inject(flow.id, 'n2.out>n3.in', { values: [5] })
    await flow.settle()
    expect(Object.keys(await flow.children())).toEqual(['n3'])
    expect(await flow.take('y')).toEqual([10])
  })

  test('what waits at one can be moved to another', async () => {
    const two: Graph = {
      ...asking,
      nodes: { ...asking.nodes, other: node('asker') },
      edges: [...asking.edges!, edge('ask.out', 'other.in')],
    }
    const flow = await running(two, { x: [1, 2, 3] })
    expect(await client.flows.move(flow.id, 'a.out>ask.in', { to: 'ask.out>other.in' })).toEqual({ moved: 3 })
    expect(await client.flows.move(flow.id, 'a.out>ask.in', { to: 'ask.out>other.in' })).toEqual({ moved: 0 })
    const wires = await wiresOf(flow.id)
    expect([wires['a.out>ask.in']!.size, wires['ask.out>other.in']!.size]).toEqual([0, 3])
  })

  test('one that is not in the graph is not found', async () => {
    const flow = await running(asking)
    await expect(client.flows.drain(flow.id, 'a.out>nobody.in', {})).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

test('graphs are stored, shown, used and forgotten', async () => {
  const graph = chain(2, 'double')
  await client.graphs.set('doubling', graph)
  expect(await client.graphs.get('doubling')).toMatchObject(graph as object)
  const { id } = (await client.jobs.enqueue({
    queue: 'core',
    class: 'flow',
    args: ['doubling'],
    inputs: { x: [1] },
  })) as { id: number }
  const flow = await startFlow(kit)
  await flow.settle()
  await client.graphs.remove('doubling')
  await expect(client.graphs.get('doubling')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  const { values } = await client.ports.read(id, 'out', 'y', { max: 9 })
  expect(values.map(({ data }) => data)).toEqual([4])
})

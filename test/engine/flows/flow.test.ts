import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeValue } from '../../../src/core/codec/value.ts'
import { ops } from '../../../src/redis/ops.ts'
import type { Order } from '../../../src/testing/index.ts'
import { type Kit, startKit } from '../../kit/index.ts'
import { SEEDS } from '../../kit/orders.ts'
import { edge, type Graph, inOf, node, outOf, startFlow, workers } from './kit.ts'

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ hold: true, workers })
})
afterAll(async () => {
  expect(await kit.engine.doctor.verify()).toEqual([])
  await kit.close()
})

type Scenario = (order: Order) => Promise<void>

const sumDouble: Graph = {
  nodes: { sum: node('sum'), double: node('double') },
  edges: [edge('sum.sum', 'double.in')],
  inports: { in: inOf('sum.in') },
  outports: { out: outOf('double.out') },
}

const scenarios: Record<string, Scenario> = {
  async 'sum, then double: [1,2,3,4] gives 20'(order) {
    const flow = await startFlow(kit, sumDouble, order)
    await flow.run({ in: [[1, 2, 3, 4]] })
    expect(await flow.take('out')).toEqual([20])
    expect(await flow.status()).toBe('completed')
  },
  async 'an output is visible from outside and passes on'(order) {
    const flow = await startFlow(
      kit,
      {
        nodes: { ...sumDouble.nodes, double2: node('double') },
        edges: [edge('sum.sum', 'double.in'), edge('double.out', 'double2.in')],
        inports: sumDouble.inports,
        outports: { once: outOf('double.out'), twice: outOf('double2.out') },
      },
      order,
    )
    await flow.run({ in: [[1, 2, 3, 4]] })
    expect([await flow.take('once'), await flow.take('twice')]).toEqual([[20], [40]])
    expect(Object.keys(await flow.children())).toHaveLength(3)
  },
  async 'S39: defaults pass along the wires; a node removed from the graph is stopped and keeps its values'(order) {
    const flow = await startFlow(
      kit,
      {
        nodes: { sum: node('sum', { init: true, outports: { sum: { default: 10 } } }), add: node('add') },
        edges: [edge('sum.sum', 'add.x')],
        inports: { y: inOf('add.y') },
        outports: { out: outOf('add.sum') },
      },
      order,
    )
    await flow.run({ y: [15] })
    expect(await flow.take('out')).toEqual([25])
    expect(await flow.status()).toBe('completed')
    const add = await flow.child('add')
    await flow.update({ nodes: { sum: node('sum', { init: true, outports: { sum: { default: 10 } } }) } })
    expect(Object.keys(await flow.children())).toEqual(['sum'])
    expect(await kit.engine.jobs.get(add)).toMatchObject({ parent: null, status: 'terminated' })
  },
  async 'the default of a port of the flow'(order) {
    const flow = await startFlow(
      kit,
      {
        nodes: { add: node('add') },
        inports: { x: { ...inOf('add.x'), default: 5 }, y: inOf('add.y') },
        outports: { out: outOf('add.sum') },
      },
      order,
    )
    await flow.run({ y: [7] })
    expect(await flow.take('out')).toEqual([12])
  },
  async 'first values of an input'(order) {
    const flow = await startFlow(
      kit,
      {
        nodes: { double: node('double', { inports: { in: { init: [4, 5] } } }) },
        outports: { out: outOf('double.out') },
      },
      order,
    )
    await flow.settle()
    expect(await flow.take('out')).toEqual([8, 10])
  },
  async 'first values of an output are taken for the node’s own'(order) {
    const flow = await startFlow(
      kit,
      { ...sumDouble, nodes: { ...sumDouble.nodes, sum: node('sum', { outports: { sum: { init: [5] } } }) } },
      order,
    )
    await flow.settle()
    expect(await flow.take('out')).toEqual([10])
  },
  async 'the same graph again does not repeat its first values'(order) {
    const graph = {
      nodes: { double: node('double', { inports: { in: { init: [1] } } }) },
      outports: { out: outOf('double.out') },
    }
    const flow = await startFlow(kit, graph, order)
    await flow.settle()
    await flow.update(graph)
    expect(await flow.take('out')).toEqual([2])
  },
  async 'nodes start only when something reaches them'(order) {
    const flow = await startFlow(kit, sumDouble, order)
    await flow.settle()
    expect([await flow.status(), await flow.children()]).toEqual(['completed', {}])
    await flow.run({ in: [[1]] })
    expect(Object.keys(await flow.children()).sort()).toEqual(['double', 'sum'])
    expect((await flow.children()).sum).toMatchObject({ status: 'completed' })
    expect(await kit.engine.jobs.get(await flow.child('sum'))).toMatchObject({
      name: 'sum',
      createdBy: `job:${flow.id}`,
    })
  },
  async 'a value goes along every wire, twice along a double wire'(order) {
    const flow = await startFlow(
      kit,
      {
        nodes: { a: node('connect'), b: node('double'), c: node('double') },
        edges: [edge('a.out', 'b.in'), edge('a.out', 'c.in'), edge('a.out', 'c.in')],
        inports: { x: inOf('a.in') },
        outports: { b: outOf('b.out'), c: outOf('c.out') },
      },
      order,
    )
    await flow.run({ x: [4, 5] })
    expect(await flow.take('b')).toEqual([8, 10])
    expect((await flow.take('c')).sort()).toEqual([10, 10, 8, 8])
  },
  async 'S43: if a node fails, the flow fails and names the node; repairing the node revives the flow'(order) {
    const flow = await startFlow(
      kit,
      {
        nodes: { wait: node('asker'), b: node('brittle'), a: node('brittle') },
        inports: { a: inOf('a.in'), b: inOf('b.in'), w: inOf('wait.in') },
        outports: { a: outOf('a.out') },
      },
      order,
    )
    await flow.run({ w: [1], a: ['bad'], b: ['bad'] })
    const [a, b] = [await flow.child('a'), await flow.child('b')]
    expect(await flow.status()).toBe('failed')
    const bad = (id: string) => `(job ${id}) failed: that was bad`
    expect(await flow.error()).toBe(`node a ${bad(a)}, node b ${bad(b)}`)
    await kit.engine.ports.take(a, 'in', 'in', {})
    await kit.engine.jobs.retry(a)
    await flow.settle()
    expect(await flow.error()).toBe(`node b ${bad(b)}`)
    await kit.engine.ports.take(b, 'in', 'in', {})
    await kit.engine.jobs.retry(b)
    await flow.settle()
    expect(await flow.status()).toBe('suspended')
    await kit.engine.jobs.terminate(await flow.child('wait'), {})
    await flow.settle()
    expect(await flow.error()).toMatch(/^node wait \(job \d+\) was terminated$/)
    await kit.engine.jobs.remove(await flow.child('wait'), {})
    await flow.settle()
    expect(await flow.status()).toBe('completed')
    await flow.run({ w: [1] })
    expect(await flow.status()).toBe('suspended')
    expect(await kit.engine.ports.get(await flow.child('wait'), 'in', 'in')).toMatchObject({ size: 1 })
  },
  async 'an unregistered class fails the flow, and its values wait'(order) {
    const flow = await startFlow(kit, { nodes: { a: node('missing') }, inports: { x: inOf('a.in') } }, order)
    await flow.run({ x: [1] })
    expect(await flow.status()).toBe('failed')
    expect(await flow.error()).toMatch(/class missing is not registered/)
    expect((await flow.view()).in.x!.size).toBe(1)
  },
  async 'a port that a node does not have fails the flow by node and port'(order) {
    const graph = { nodes: { a: node('double') }, inports: { x: inOf('a.nothing') } }
    await expect(startFlow(kit, graph, order)).rejects.toThrow('node a (double) has no input port "nothing"; it has in')
    // A flow that receives its graph at a port checks the graph only in its next run.
    const flow = await startFlow(kit, undefined, order)
    await flow.update(graph)
    await flow.run({ x: [1] })
    expect(await flow.error()).toMatch(
      /wire from the flow\.x to a\.nothing: job \d+ \(double\) has no input port "nothing"/,
    )
    expect((await flow.view()).in.x!.size).toBe(1)
    expect(await flow.children()).toEqual({})
  },
  async 'S42: a job becomes a node if it matches the node and has no parent'(order) {
    const adopt = async (job: object, wanted: { class?: string; args?: unknown }, parent?: string) => {
      const id = await kit.make('double', { queue: 'core', ...job, ...(parent ? { parent, name: 'x' } : {}) })
      const flow = await startFlow(
        kit,
        {
          nodes: { a: { ...node('double'), ...wanted, init: id } },
          inports: { x: inOf('a.in') },
          outports: { y: outOf(wanted.class === 'sum' ? 'a.sum' : 'a.out') },
        },
        order,
      )
      await flow.run({ x: [2] })
      return { flow, id }
    }
    const { flow, id } = await adopt({ args: '[1, 2]', inputs: { in: ['1'] } }, { args: [1, 2] })
    expect(await flow.status()).toBe('completed')
    expect((await flow.children()).a!.id).toBe(id)
    expect(await flow.take('y')).toEqual([2, 4])
    expect(await (await adopt({}, { args: [] })).flow.error()).toMatch(
      /nodes\.a\.init: expected a job with args \[\], got job \d+ with args null/,
    )
    expect(await (await adopt({}, { class: 'sum' })).flow.error()).toMatch(
      /expected a job with class "sum", got job \d+ with class "double"/,
    )
    const owner = await kit.make('connect', { queue: 'core' })
    expect(await (await adopt({}, {}, String(owner))).flow.error()).toMatch(/already has a parent/)
  },
  async 'a flow can be a node'(order) {
    const flow = await startFlow(
      kit,
      {
        nodes: { inner: node('flow', { args: { graph: sumDouble } }), last: node('double') },
        edges: [edge('inner.out', 'last.in')],
        inports: { in: inOf('inner.in') },
        outports: { out: outOf('last.out') },
      },
      order,
    )
    await flow.run({ in: [[1, 2]] })
    await flow.run({ in: [[3]] })
    expect(await flow.take('out')).toEqual([12, 12])
    expect(await flow.status()).toBe('completed')
  },
  async 'a stored graph, also when it is stored later'(order) {
    const name = `stored ${JSON.stringify(order)}`
    const flow = await startFlow(kit, undefined, order, { args: encodeValue([name]) })
    await flow.run({ in: [[1, 2]] })
    expect(await flow.status()).toBe('suspended')
    await kit.store.change('', [ops.graph({ name, text: encodeValue(sumDouble) })])
    await flow.run({ in: [[3]] })
    expect(await flow.take('out')).toEqual([6, 6])
  },
  async 'a graph changes while values wait: remaining nodes keep their jobs and values, new wires carry the values'(
    order,
  ) {
    const flow = await startFlow(
      kit,
      { nodes: { a: node('connect'), w: node('asker') }, edges: [edge('a.out', 'w.in')], inports: { x: inOf('a.in') } },
      order,
    )
    await flow.run({ x: [1, 2] })
    const [a, w] = [await flow.child('a'), await flow.child('w')]
    await kit.engine.ports.write(a, 'out', 'aside', [encodeValue(7)]).catch(() => undefined)
    await kit.engine.ports.write(w, 'out', 'out', [encodeValue(3)])
    await flow.update({
      nodes: { a: node('connect'), w: node('asker'), d: node('double') },
      edges: [edge('a.out', 'w.in'), edge('w.out', 'd.in')],
      inports: { x: inOf('a.in') },
      outports: { y: outOf('d.out') },
    })
    expect([await flow.child('a'), await flow.child('w')]).toEqual([a, w])
    expect(await kit.engine.ports.get(w, 'in', 'in')).toMatchObject({ size: 2 })
    expect(await flow.take('y')).toEqual([6])
  },
  async 'a node of another class gets what waited for the one before it'(order) {
    const graph = (className: string): Graph => ({
      nodes: { a: node(className) },
      inports: { x: inOf('a.in') },
      outports: { y: outOf('a.out') },
    })
    const flow = await startFlow(kit, graph('asker'), order)
    await flow.run({ x: [1, 2] })
    const old = await flow.child('a')
    await flow.update(graph('double'))
    expect(await flow.take('y')).toEqual([2, 4])
    expect((await kit.engine.jobs.get(old)).status).toBe('terminated')
    expect(await flow.status()).toBe('completed')
  },
  async 'a changed default survives a new graph'(order) {
    const graph = (more: object): Graph => ({
      nodes: { s: node('set_default'), add: node('add'), ...more },
      edges: [edge('s.out', 'add.x')],
      inports: { x: inOf('s.in'), y: inOf('add.y') },
      outports: { z: outOf('add.sum') },
    })
    const flow = await startFlow(kit, graph({}), order)
    await flow.run({ x: [10] })
    await flow.update(graph({ more: node('double') }))
    await flow.run({ y: [1] })
    expect(await flow.take('z')).toEqual([11])
  },
}

const orders: [string, Order][] = [
  ['oldest first', 'fifo'],
  ['newest first', 'lifo'],
]

describe.each(orders)('%s', (_name, order) => {
  for (const [name, scenario] of Object.entries(scenarios)) test(name, () => scenario(order))
})

describe('in random orders', () => {
  for (const [name, scenario] of Object.entries(scenarios))
    test(name, { timeout: 120_000 }, async () => {
      for (let seed = 0; seed < (/^S\d/.test(name) ? SEEDS : Math.min(SEEDS, 20)); seed++) await scenario({ seed })
    })
})

test('each flow lists the ports of its graph before its first run, also if one call creates several', async () => {
  const graphs: Graph[] = [
    sumDouble,
    { ...sumDouble, inports: {}, outports: { sum: outOf('sum.sum'), twice: outOf('double.out') } },
  ]
  const { jobs } = await kit.engine.jobs.enqueue([
    ...graphs.map((graph) => ({ queue: 'core', class: 'flow', args: encodeValue({ graph }) })),
    { queue: 'core', class: 'flow', inputs: { __graph: [encodeValue(sumDouble)] } },
  ])
  const portsOf = async (id: number) => {
    const { status, in: ins, out } = await kit.engine.jobs.get(String(id))
    return { status, in: Object.keys(ins).sort(), out: Object.keys(out).sort() }
  }
  expect(await Promise.all(jobs.map(({ id }) => portsOf(id)))).toEqual([
    { status: 'queued', in: ['__graph', 'in'], out: ['out'] },
    { status: 'queued', in: ['__graph'], out: ['sum', 'twice'] },
    { status: 'queued', in: ['__graph', 'in'], out: ['out'] },
  ])
  for (const { id } of jobs) {
    await kit.engine.jobs.terminate(String(id), { recursive: true })
    await kit.engine.jobs.remove(String(id), { force: true })
  }
})

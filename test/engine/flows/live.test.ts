import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../../src/client/index.ts'
import { createApp } from '../../../src/http/app.ts'
import { counted } from '../../kit/counted.ts'
import { type Kit, startKit } from '../../kit/index.ts'
import { costOf } from '../../redis/commandstats.ts'
import { acted, chain, edge, type Graph, inOf, node, outOf, startFlow, workers } from './kit.ts'

/** Billed commands of a list of flows, without the two commands for each flow. */
const LIST = 21

let kit: Kit
let client: ReturnType<typeof createClient>
beforeAll(async () => {
  kit = await startKit({ hold: true, workers })
  const app = createApp({ engine: kit.engine, verify: async () => false, publicUrl: 'http://127.0.0.1' })
  const fetch = (...args: Parameters<typeof globalThis.fetch>) => Promise.resolve(app.request(...(args as [string])))
  client = createClient({ url: 'http://127.0.0.1', key: 'dev', fetch })
})
afterAll(async () => {
  expect(await kit.engine.doctor.verify()).toEqual([])
  await kit.close()
})

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
  test('a preview reports waiting values that would not fit the target of a new wire', async () => {
    const schema = '{"type":"object","properties":{"n":{"type":"integer"}}}' as never
    await kit.engine.workers.register('core', 'typed', { pull: true, in: { in: { schema } } })
    const open: Graph = { nodes: { a: node('connect') }, edges: [], inports: { x: inOf('a.in') } }
    const flow = await running(open, { x: [{ n: 1 }, { n: 'two' }, 3] })
    const a = Number(await flow.child('a'))
    const next: Graph = { ...open, nodes: { a: node('connect'), t: node('typed') }, edges: [edge('a.out', 't.in')] }
    const change = await client.flows.setGraph(flow.id, next, { query: { preview: true } })
    expect(change.unfit).toEqual([
      { wire: 'a.out>t.in', job: a, port: 'out', values: 2, of: 3, why: expect.stringMatching(/^n: expected .*two/) },
    ])
    const anything: Graph = { ...next, nodes: { a: node('connect'), t: node('asker') } }
    expect(await client.flows.setGraph(flow.id, anything, { query: { preview: true } })).not.toHaveProperty('unfit')
    expect(await client.flows.setGraph(flow.id, next)).not.toHaveProperty('unfit')
  })

  test('a preview reports nodes to start and stop, new wires and orphaned values, and changes nothing', async () => {
    const flow = await running(asking, { x: [1, 2] })
    const ask = Number(await flow.child('ask'))
    const next: Graph = {
      nodes: { a: node('connect'), d: node('double', { init: true }) },
      edges: [edge('a.out', 'd.in')],
      inports: { x: inOf('a.in') },
    }
    const before = await kit.engine.jobs.get(flow.ref)
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
    expect(await kit.engine.jobs.get(flow.ref)).toEqual(before)
    expect(await client.flows.setGraph(flow.id, next)).toEqual({ ...wanted, applied: true })
    await flow.settle()
    expect(Object.keys(await flow.children()).sort()).toEqual(['a', 'd'])
    expect(await kit.engine.ports.get(String(ask), 'in', 'in')).toMatchObject({ size: 2 })
  })

  test('a change keeps jobs and values, passes waiting values to new wires, but no initial values', async () => {
    const first: Graph = {
      nodes: { a: node('connect', { inports: { in: { init: [0] } } }), ask: node('asker') },
      edges: [edge('a.out', 'ask.in')],
      inports: { x: inOf('a.in') },
    }
    const flow = await running(first, { x: [1] })
    const [a, ask] = [await flow.child('a'), await flow.child('ask')]
    await kit.engine.ports.write(ask, 'out', 'out', ['7', '8'])
    await client.flows.setGraph(flow.id, {
      ...first,
      nodes: { ...first.nodes, ask2: node('asker') },
      edges: [...first.edges!, edge('ask.out', 'ask2.in'), edge('a.out', 'ask2.in')],
    })
    expect([await flow.child('a'), await flow.child('ask')]).toEqual([a, ask])
    expect(await kit.engine.ports.get(await flow.child('ask2'), 'in', 'in')).toMatchObject({ size: 2 })
    await flow.run({ x: [2] })
    const values = async (job: string) =>
      (await kit.engine.ports.get(job, 'in', 'in')).values.map(({ data }) => JSON.parse(data))
    expect(await values(ask)).toEqual([0, 1, 2])
    expect(await values(await flow.child('ask2'))).toEqual([7, 8, 2])
  })

  test('undo restores the previous graph, step by step', async () => {
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
    const before = await kit.engine.jobs.get(flow.ref)
    const wrong: Graph = {
      nodes: { a: node('connect'), b: node('nobody', { init: true }), ask: node('double') },
      edges: [edge('a.out', 'ask.in')],
    }
    await expect(client.flows.setGraph(flow.id, wrong)).rejects.toMatchObject({ code: 'REFUSED' })
    expect(await kit.engine.jobs.get(flow.ref)).toEqual(before)
    expect((await client.flows.graph(flow.id)).nodes).not.toHaveProperty('b')
    await expect(client.flows.setGraph(flow.id, { nodes: { a: { queue: 'core' } } } as never)).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      path: ['nodes', 'a', 'class'],
    })
  })

  test('a graph without the failed node repairs a failed flow', async () => {
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

  test('only a flow has a graph, and an ended flow accepts no other', async () => {
    const id = await kit.make('double', { queue: 'core' })
    await expect(client.flows.setGraph(id, {})).rejects.toMatchObject({ code: 'REFUSED' })
    await expect(client.flows.graph(id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const flow = await running(asking)
    await kit.engine.jobs.terminate(flow.ref, { recursive: true })
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
  test('report the number of waiting values, the oldest, and the number read in a minute', async () => {
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
    expect(wires['x>a.in']!.rate).toBeGreaterThan(0)
    expect(wires['a.out>ask.in']!.rate).toBe(0)
  })

  test('counted no values as read after their port was empty', async () => {
    const flow = await running(asking, { x: [[1], 2, 3] })
    const { 'x>a.in': read, 'a.out>ask.in': waits } = await wiresOf(flow.id)
    expect([read!.size, read!.out.at(-1)! + read!.out.at(-2)!]).toEqual([0, 3])
    expect([waits!.size, waits!.out.at(-1)! + waits!.out.at(-2)!]).toEqual([3, 0])
  })

  test('report their last values, newest first, also after these were read', async () => {
    const flow = await running(chain(2, 'double'), { x: [1, 2, 3] })
    const wires = await wiresOf(flow.id)
    expect(wires['x>n1.in']!.passed.map(({ data }) => data)).toEqual([3, 2, 1])
    expect(Date.parse(wires['x>n1.in']!.passed[0]!.at!)).toBeGreaterThan(Date.now() - 60_000)
    expect(wires['n2.out>y']!.passed.map(({ data }) => data)).toEqual([12, 8, 4])
  })

  test('mask their last values as the classes at both ends do', async () => {
    const [from, to] = ['out', 'in'].map((side) => ({ pull: true as const, redact: [`${side}.p.${side}`] }))
    await kit.engine.workers.register('core', 'masks_out', { ...from, in: { p: {} }, out: { p: {} } })
    await kit.engine.workers.register('core', 'masks_in', { ...to, in: { p: {} }, out: { p: {} } })
    const graph: Graph = {
      nodes: { a: node('masks_out', { init: true }), b: node('masks_in', { init: true }) },
      edges: [edge('a.p', 'b.p')],
    }
    const flow = await running(graph)
    await kit.engine.ports.write(await flow.child('a'), 'out', 'p', ['{"in":"secret","out":"secret","n":1}'] as never)
    await flow.settle()
    const { passed } = (await wiresOf(flow.id))['a.p>b.p']!
    expect(passed.map(({ data }) => data)).toEqual([{ in: '[redacted]', out: '[redacted]', n: 1 }])
  })

  test('can try a function on their last values, oldest first, without keeping its changes', async () => {
    const flow = await running(asking, { x: [[1, 2], 'two', { n: 3 }] })
    const before = await kit.engine.jobs.get(flow.ref)
    const { runs } = await client.flows.try(flow.id, 'a.out>ask.in', { queue: 'core', class: 'array' })
    expect(runs.map(({ in: value }) => value)).toEqual([[1, 2], 'two', { n: 3 }])
    const { runs: passed } = await client.flows.try(flow.id, 'x>a.in', { queue: 'core', class: 'pass' })
    expect(passed.map(({ out }) => out)).toEqual([{ out: [[1, 2]] }, { out: ['two'] }, { out: [{ n: 3 }] }])
    expect(await kit.engine.jobs.get(flow.ref)).toEqual(before)
    expect((await wiresOf(flow.id))['a.out>ask.in']!.size).toBe(3)
  })

  test('a trial ends before a step, a commit or a use of job.env, masks values, and checks the schema', async () => {
    const flow = await running(asking, { x: [0, 1, 2, 3, 4, 'five'] })
    const { runs } = await client.flows.try(flow.id, 'x>a.in', { queue: 'core', class: 'careful' })
    expect(runs.map(({ note }) => note)).toEqual([
      undefined,
      'it ends before step "charge"',
      'it uses job.env.KEY',
      'three is too many',
      'it ends before its first commit',
      'expected a number, got "five"',
    ])
    expect(runs[0]!.out).toEqual({ out: [{ n: 0, card: '[redacted]' }] })
    expect(acted).toEqual([0])
    const unknown = client.flows.try(flow.id, 'x>a.in', { queue: 'core', class: 'nothing' })
    await expect(unknown).rejects.toThrow('class: expected a function of this deployment, got core/nothing')
  })

  test('are shown as not connected, without values, until their target node starts', async () => {
    const flow = await running(asking)
    expect((await wiresOf(flow.id))['a.out>ask.in']).toMatchObject({
      laid: false,
      size: 0,
      behind: 0,
      rate: 0,
      oldest: null,
    })
  })

  test('accept values, and return them', async () => {
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

  test('start the node at their end', async () => {
    const flow = await running(chain(3, 'double'))
    await client.flows.inject(flow.id, 'n2.out>n3.in', { values: [5] })
    await flow.settle()
    expect(Object.keys(await flow.children())).toEqual(['n3'])
    expect(await flow.take('y')).toEqual([10])
  })

  test('values waiting at one wire can be moved to another', async () => {
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

  test('an unknown wire is not found', async () => {
    const flow = await running(asking)
    await expect(client.flows.drain(flow.id, 'a.out>nobody.in', {})).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

test('graphs can be stored, shown, used and deleted', async () => {
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

describe('flows are seen from outside', () => {
  counted('a list has every flow in short, newest first, in two round trips however many there are', async () => {
    await running(asking)
    const one = await running({ ...asking, name: 'first' }, { x: [1, 2] })
    const two = await startFlow(kit, asking, 'fifo', { alias: ['second'] })
    await two.settle()
    const { flows, cursor } = await client.flows.list({ limit: 2 })
    const cost = await costOf(kit, () => kit.engine.flows.list({ limit: 2 }))
    expect(flows).toMatchObject([
      {
        id: two.id,
        name: 'second',
        status: 'completed',
        nodes: 2,
        running: 0,
        queued: 0,
        wires: 2,
        values: 0,
        oldestAt: null,
      },
      { id: one.id, name: 'first', status: 'suspended', nodes: 2, running: 0, queued: 0, wires: 2, values: 2 },
    ])
    expect(Date.parse(flows[1]!.oldestAt!)).toBeGreaterThan(Date.now() - 60_000)
    expect(flows[0]!.changedAt).not.toBeNull()
    expect(cursor).toBe(String(one.id))
    expect(cost.calls).toBe(2)
    expect(cost.billed).toBeLessThanOrEqual(LIST + 2 * flows.length)
    const rest = await client.flows.list({ cursor: cursor!, status: 'suspended' })
    expect(rest.flows.every(({ id, status }) => id < one.id && status === 'suspended')).toBe(true)
  })

  test('a running node was shown as queued, and no list counted it as running', async () => {
    await kit.engine.workers.register('default', 'held', { pull: true })
    const { id } = await running({ nodes: { h: { queue: 'default', class: 'held', init: true } }, edges: [] } as never)
    const seen = async () => {
      const [{ nodes, flow }, { flows }] = [await client.flows.get(id), await client.flows.list({ limit: 1 })]
      expect(flows[0]).toMatchObject({ id, running: flow.running, queued: flow.queued, active: 1 })
      return [nodes[0]!.status, nodes[0]!.leaseUntil !== null, flow.running, flow.queued]
    }
    expect(await seen()).toEqual(['queued', false, 0, 1])
    await kit.engine.runs.claim('default', { names: ['held'], max: 1 })
    expect(await seen()).toEqual(['running', true, 1, 0])
  })

  test('one request returns the graph, nodes and wires of the same moment', async () => {
    const flow = await running(asking, { x: [1, 2, 3] })
    const seen = await client.flows.get(flow.id)
    expect(seen).toMatchObject({
      flow: { id: flow.id, values: 3 },
      undo: 0,
      graph: { nodes: { a: { class: 'connect' } } },
    })
    expect(seen.nodes).toMatchObject([
      {
        name: 'a',
        class: 'connect',
        status: 'completed',
        job: Number(await flow.child('a')),
        lastRun: { outcome: 'completed' },
      },
      { name: 'ask', class: 'asker', status: 'suspended', lastRun: { outcome: 'suspended' } },
    ])
    const wire = seen.wires.find(({ id }) => id === 'a.out>ask.in')!
    expect([wire.in.length, wire.in.at(-1)! + wire.in.at(-2)!, wire.out]).toEqual([10, 3, Array(10).fill(0)])
    expect(Date.parse(wire.oldestAt!)).toBeGreaterThan(Date.now() - 60_000)
    await client.flows.drain(flow.id, 'a.out>ask.in', { max: 2 })
    const [, after] = (await client.flows.get(flow.id)).wires
    expect(after!.out.at(-1)! + after!.out.at(-2)!).toBe(2)
    await expect(client.flows.get(await flow.child('a'))).rejects.toMatchObject({ code: 'REFUSED' })
  })

  test('the author and the time of a change are kept while it can be undone', async () => {
    const flow = await running(asking)
    await client.flows.setGraph(flow.id, chain(1))
    await client.flows.setGraph(flow.id, chain(2))
    const { versions } = await client.flows.history(flow.id)
    expect(versions.map(({ nodes, by, back }) => [nodes, by, back])).toEqual([
      [2, expect.stringMatching(/^key:/), false],
      [1, expect.stringMatching(/^key:/), false],
      [2, null, false],
    ])
    expect(versions.every(({ at }) => Date.parse(at!) > Date.now() - 60_000)).toBe(true)
    expect((await client.flows.get(flow.id)).undo).toBe(2)
    await client.flows.undo(flow.id)
    const undone = (await client.flows.history(flow.id)).versions
    expect(undone.map(({ hash, back }) => [hash, back])).toEqual([
      [versions[1]!.hash, true],
      [versions[2]!.hash, false],
    ])
  })

  test('a preview of an undo reports its effects, and changes nothing', async () => {
    const flow = await running(chain(1), { x: [1] })
    await client.flows.setGraph(flow.id, chain(2))
    const { hash } = await client.flows.get(flow.id)
    expect(await client.flows.undo(flow.id, {}, { query: { preview: true } })).toMatchObject({
      applied: false,
      wires: { added: ['n1.out>y'], removed: ['n1.out>n2.in', 'n2.out>y'] },
    })
    expect((await client.flows.get(flow.id)).hash).toBe(hash)
  })

  test('the second of two editors is refused, with both hashes, and changes nothing', async () => {
    const flow = await running(chain(1))
    const seen = (await client.flows.get(flow.id)).hash!
    await client.flows.setGraph(flow.id, chain(2), { ifMatch: seen })
    const now = (await client.flows.get(flow.id)).hash!
    for (const late of [
      () => client.flows.setGraph(flow.id, chain(3), { ifMatch: seen }),
      () => client.flows.setGraph(flow.id, chain(3), { ifMatch: seen, query: { preview: true } }),
      () => client.flows.undo(flow.id, {}, { ifMatch: seen }),
    ])
      await expect(late()).rejects.toMatchObject({
        code: 'CHANGED',
        status: 412,
        message: `If-Match: expected the hash of the current graph ("${now}"), got "${seen}": the graph has changed. Get the current graph and apply your change to it`,
      })
    expect((await client.flows.get(flow.id)).hash).toBe(now)
    await client.flows.undo(flow.id, {}, { ifMatch: now })
    expect((await client.flows.get(flow.id)).hash).toBe(seen)
  })

  test('stored graphs are listed by their names, a page at a time', async () => {
    for (const name of ['c', 'a', 'b']) await client.graphs.set(`listed-${name}`, chain(1))
    const first = await client.graphs.list({ limit: 2, cursor: 'listed' })
    expect(first).toEqual({ graphs: [{ name: 'listed-a' }, { name: 'listed-b' }], cursor: 'listed-b' })
    expect((await client.graphs.list({ cursor: 'listed-b' })).graphs[0]).toEqual({ name: 'listed-c' })
  })
})

describe('a flow with a wire to a missing port', () => {
  const wrong: Graph = { ...asking, edges: [edge('a.out', 'ask.inn')] }
  const message = 'edges.0.to.inport: node ask (asker) has no input port "inn"; it has in'
  test.each([
    ['by its port', { inputs: { __graph: [wrong] } }, `inputs.__graph.0.${message}`],
    ['in its arguments', { args: { graph: wrong } }, `args.graph.${message}`],
  ])('is refused %s, and not created', async (_, more, message) => {
    const made = client.jobs.enqueue({ queue: 'core', class: 'flow', ...more })
    await expect(made).rejects.toMatchObject({ code: 'REFUSED', message })
  })

  test('is created even if its class is still unknown', async () => {
    const graph: Graph = { ...wrong, nodes: { ...wrong.nodes, ask: node('comes-later') } }
    expect(await client.jobs.enqueue({ queue: 'core', class: 'flow', inputs: { __graph: [graph] } })).toHaveProperty(
      'id',
    )
  })
})

import { expect, test } from 'vitest'
import { encodeValue } from '../../src/core/codec/value.ts'
import { type Graph, readGraph } from '../../src/core/graph.ts'
import { type FlowFacts, planGraph } from '../../src/core/plan.ts'
import type { Wiring } from '../../src/core/run.ts'
import { wiresOf } from '../../src/core/wires.ts'

const edge = (from: string, to: string) => {
  const [[a, outport], [b, inport]] = [from.split('.'), to.split('.')]
  return { from: { node: a, outport }, to: { node: b, inport } }
}
const graphOf = (nodes: Record<string, object>, edges: object[] = [], more: object = {}): Graph => {
  const named = Object.entries(nodes).map(([name, node]) => [name, { class: 'x', ...node }])
  return readGraph(encodeValue({ nodes: Object.fromEntries(named), edges, ...more }))
}

const factsOf = (names: string[], wires: Wiring[] = [], more: Partial<FlowFacts> = {}): FlowFacts => ({
  id: 1,
  children: Object.fromEntries(names.map((name, i) => [name, { id: 11 + i, class: 'x', status: 'completed' }])),
  inputs: {},
  wires,
  jobs: {},
  ...more,
})
const at = (child: string, dir: 'in' | 'out', port: string, size: number, to: Wiring['to'] = []): Wiring => ({
  child,
  dir,
  port,
  size,
  to,
  default: false,
})

test('wires have names, in the order in which they deliver', () => {
  const graph = graphOf({ a: {}, b: {} }, [edge('a.out', 'b.in'), edge('a.out', 'b.in')], {
    inports: { x: { node: 'a', inport: 'in' } },
    outports: { y: { node: 'a', outport: 'out' } },
  })
  expect(wiresOf(graph).map(({ id }) => id)).toEqual(['x>a.in', 'a.out>b.in', 'a.out>b.in#2', 'a.out>y'])
})

test('nothing to do for a flow that matches its graph', () => {
  const graph = graphOf({ a: { init: true }, b: {} }, [edge('a.out', 'b.in')])
  const laid = at('a', 'out', 'out', 0, [{ job: 12, dir: 'in', port: 'in' }])
  expect(planGraph(graph, graph, factsOf(['a', 'b'], [laid])).ops).toEqual([])
})

test('a value at an output starts its direct targets only', () => {
  const graph = graphOf({ a: {}, b: {}, c: {} }, [edge('a.out', 'b.in'), edge('b.out', 'c.in')])
  const { start, ops } = planGraph(graph, graph, factsOf(['a'], [at('a', 'out', 'out', 1, 'call')]))
  expect(start).toEqual(['b'])
  expect(ops).toEqual([
    { op: 'spawn', name: 'b', queue: 'default', class: 'x' },
    { op: 'wire', from: { child: 'a', out: 'out' }, to: [{ child: 'b', in: 'in' }] },
    { op: 'wire', from: { child: 'b', out: 'out' }, call: true },
  ])
})

test('defaults start one node after the other', () => {
  const graph = graphOf(
    { a: { init: true, outports: { out: { default: 1 } } }, b: { outports: { out: { default: 2 } } }, c: {} },
    [edge('a.out', 'b.in'), edge('b.out', 'c.in')],
  )
  expect(planGraph(graph, undefined, factsOf([])).start).toEqual(['a', 'b', 'c'])
})

test('a loop starts nothing by itself', () => {
  const graph = graphOf({ a: {}, b: {} }, [edge('a.out', 'b.in'), edge('b.out', 'a.in')])
  expect(planGraph(graph, undefined, factsOf([])).ops).toEqual([])
})

test('a replaced node passes on the values waiting at its wires; other values are reported', () => {
  const [before, after] = ['x', 'y'].map((name) => graphOf({ a: {}, b: { class: name } }, [edge('a.out', 'b.in')]))
  const plan = planGraph(after!, before, factsOf(['a', 'b'], [at('b', 'in', 'in', 2), at('b', 'in', 'aside', 3)]))
  expect(plan).toMatchObject({
    start: [],
    replace: [{ node: 'b', job: 12 }],
    orphaned: [{ node: 'b', job: 12, dir: 'in', port: 'aside', values: 3 }],
  })
  expect(plan.ops.map(({ op }) => op)).toEqual(['disown', 'spawn', 'connect', 'wire', 'terminate'])
})

test('jobs that other callers put below the flow are detached and continue', () => {
  const graph = graphOf({})
  expect(planGraph(graph, graph, factsOf(['stranger'])).ops).toEqual([{ op: 'disown', child: 'stranger' }])
})

test('only changed options of a port are changed', () => {
  const [before, after] = [1, 2].map((value) =>
    graphOf({ a: { inports: { same: { default: 0 }, other: { default: value } } } }),
  )
  expect(planGraph(after!, before, factsOf(['a'])).ops).toEqual([
    { op: 'amend', of: { child: 'a' }, in: { other: { default: '2' } } },
  ])
})

test.each([
  ['is not there', null, 'job 7 does not exist'],
  ['has a parent', { queue: 'default', class: 'x', args: null, parent: 3 }, 'already has a parent (job 3)'],
  [
    'is of another class',
    { queue: 'default', class: 'y', args: null, parent: null },
    'expected a job with class "x", got job 7 with class "y"',
  ],
  [
    'has other arguments',
    { queue: 'default', class: 'x', args: '[]', parent: null },
    'expected a job with args null, got job 7 with args []',
  ],
])('a job that %s is not adopted', (_what, job, message) => {
  const graph = graphOf({ a: { init: 7 } })
  const plan = () => planGraph(graph, undefined, factsOf([], [], { jobs: { 7: job } }))
  expect(plan).toThrow(
    expect.objectContaining({
      code: 'REFUSED',
      path: ['nodes', 'a', 'init'],
      message: expect.stringContaining(message),
    }),
  )
})

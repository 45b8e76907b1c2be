import { describe, expect, test } from 'vitest'
import { factOf, factsOf, growthOf, kindOf, labelOf, lastOf } from '../../src/dashboard/words/flow.ts'
import { barsOf, eventText, momentOf, timelineOf } from '../../src/dashboard/words/replay.ts'
import type { FlowEvent, FlowNodeView } from '../../src/engine/engine.ts'

const T = 1_790_000_000_000
const graph = {
  nodes: { a: { class: 'pass' }, b: { queue: 'shop', class: 'pass' } },
  edges: [{ from: { node: 'a', outport: 'out' }, to: { node: 'b', inport: 'in' } }],
  inports: { x: { node: 'a', inport: 'in' } },
  outports: { y: { node: 'b', outport: 'out' } },
}
const run = (from: number, to: number, outcome = 'completed', attempt = 1) => ({
  startedAt: T + from,
  endedAt: T + to,
  outcome,
  attempt,
})
const event = (at: number, of: Partial<FlowEvent>): FlowEvent => ({
  id: `${at}-0`,
  at: T + at,
  moves: [],
  counts: [],
  more: 0,
  ...of,
})

const events = [
  event(1_000, {
    moves: [{ node: 'a', job: 2, was: 'suspended', is: 'queued', run: null }],
    counts: [{ node: 'a', dir: 'in', port: 'in', was: 0, is: 3 }],
  }),
  event(10_000, {
    moves: [
      { node: 'a', job: 2, was: 'running', is: 'suspended', run: run(5_000, 10_000, 'suspended') },
      { node: 'b', job: 3, was: null, is: 'queued', run: null },
    ],
    counts: [
      { node: 'a', dir: 'in', port: 'in', was: 3, is: 0 },
      { node: 'b', dir: 'in', port: 'in', was: 0, is: 2 },
    ],
  }),
  event(20_000, {
    moves: [{ node: 'b', job: 3, was: 'running', is: 'failed', run: run(15_000, 20_000, 'failed', 4) }],
  }),
]

const node = (name: string, status: FlowNodeView['status']): FlowNodeView => ({
  name,
  queue: 'default',
  class: 'pass',
  job: 2,
  status,
  ranAt: null,
  lastRun: null,
  limit: null,
  leaseUntil: null,
  until: null,
})
const live = { graph, nodes: [node('a', 'completed'), node('b', 'queued')], wires: [] }
const at = (ms: number) => momentOf(timelineOf(events), live, T + ms)
const statuses = (ms: number) => at(ms).nodes.map(({ status }) => status)
const waiting = (ms: number) => at(ms).wires.map(({ size }) => size)

describe('a recorded flow at a moment', () => {
  test('nodes have the status of the previous event, or the earlier status that the first event reports', () => {
    expect(statuses(0)).toEqual(['suspended', null])
    expect(statuses(1_000)).toEqual(['queued', null])
    expect(statuses(4_999)).toEqual(['queued', null])
    expect(statuses(12_000)).toEqual(['suspended', 'queued'])
    expect(statuses(99_000)).toEqual(['suspended', 'failed'])
  })
  test('a run is shown from its start, which the event of its end contains', () => {
    expect(statuses(5_000)).toEqual(['running', null])
    expect(statuses(15_000)).toEqual(['suspended', 'running'])
    expect(at(16_000).nodes[1]!.ranAt).toBe(T + 15_000)
    expect(at(16_000).nodes[0]!.lastRun).toEqual(run(5_000, 10_000, 'suspended'))
  })
  test('a replay showed a node that has run since before the moment as ready to run', () => {
    const running = { ...live, nodes: [{ ...node('a', 'running'), ranAt: T + 12_000 }, node('b', 'queued')] }
    const nodeAt = (ms: number) => momentOf(timelineOf(events), running, T + ms).nodes[0]
    expect(nodeAt(11_000)).toMatchObject({ status: 'suspended', ranAt: null })
    expect(nodeAt(12_000)).toMatchObject({ status: 'running', ranAt: T + 12_000 })
    expect(nodeAt(99_000)).toMatchObject({ status: 'running', ranAt: T + 12_000 })
  })
  test('a replay said that a queued node waited for a worker, although a record has no reasons', () => {
    const saidOf = (board: Pick<ReturnType<typeof at>, 'nodes' | 'wires'>) => {
      const b = board.nodes[1]!
      return factOf(b, factsOf(b, { ...board, limits: {} }, T))
    }
    expect(saidOf(live)).toBe('waits for a worker')
    expect(saidOf(at(12_000))).toBe('queued')
  })
  test('a replay said that a sleeping node waited for input', () => {
    const { nodes, wires } = at(99_000)
    expect(factOf(nodes[0]!, factsOf(nodes[0]!, { ...at(99_000), limits: {} }, T + 99_000))).toBe('suspended')
    expect([nodes[0]!.status, wires.length]).toEqual(['suspended', 3])
  })
  test('wires show the last value that passed before the moment', () => {
    const wire = { id: 'a.out>b.in', size: 0, behind: 0, laid: true, rate: 0, oldest: null, oldestAt: null }
    const passed = [3, 2, 1].map((n) => ({ data: String(n), at: T + n * 10_000 }))
    const now = { ...wire, passed, from: { node: 'a', port: 'out' }, to: { node: 'b', port: 'in' }, in: [], out: [] }
    const lasts = [9_999, 10_000, 29_999, 90_000].map((ms) =>
      lastOf(momentOf(timelineOf(events), { ...live, wires: [now] }, T + ms).wires[1]!),
    )
    expect(lasts).toEqual(['', '1', '2', '3'])
  })
  test('wires have the values that waited at the moment, the arrival of the oldest, and the reads per minute', () => {
    expect([0, 1_000, 9_999, 10_000, 30_000].map(waiting)).toEqual([
      [0, 0, 0],
      [3, 0, 0],
      [3, 0, 0],
      [0, 2, 0],
      [0, 2, 0],
    ])
    expect(at(30_000).wires[1]).toMatchObject({ id: 'a.out>b.in', oldestAt: T + 10_000, rate: 0 })
    expect(at(30_000).wires.map(({ rate }) => rate)).toEqual([3, 0, 0])
    expect(at(71_000).wires.map(({ rate }) => rate)).toEqual([0, 0, 0])
  })
  test('an unrecorded item has its current state', () => {
    const { nodes } = momentOf(timelineOf([]), live, T)
    expect(nodes.map(({ status }) => status)).toEqual(['completed', 'queued'])
  })
  test('a node of an earlier graph is drawn as a node that never started', () => {
    const earlier = { ...graph, nodes: { ...graph.nodes, old: { class: 'gone' } } }
    const { nodes } = momentOf(timelineOf(events), { ...live, graph: earlier }, T)
    expect(nodes[2]).toMatchObject({ name: 'old', queue: 'default', status: null, job: null })
  })
})

test('a wire said that 1,318 values moved in a minute, although its node had read none', () => {
  const zeros = Array<number>(9).fill(0)
  const wire = {
    id: 'a.out>b.in',
    from: { node: 'a', port: 'out' },
    to: { node: 'b', port: 'in' },
    laid: true,
    size: 1_318,
    behind: 0,
    oldest: null,
    oldestAt: T - 40_000,
    passed: [],
    rate: 0,
    in: [...zeros, 1_318],
    out: [...zeros, 0],
  }
  expect([kindOf(wire, T), labelOf(wire, T), growthOf(wire, T)]).toEqual(['idle', '1,318', 1_318])
  const read = { ...wire, size: 1_000, rate: 318, out: [...zeros, 318] }
  expect([kindOf(read, T), labelOf(read, T), growthOf(read, T)]).toEqual(['hot', '318/min', 1_000])
})

test('a lane has a bar for each run, red if it failed or was lost', () => {
  const { moves } = timelineOf(events)
  const idle = { status: 'suspended', ranAt: null } as const
  expect(barsOf(moves.get('a')!, idle, T)).toEqual([{ from: T + 5_000, to: T + 10_000, kind: 'done' }])
  expect(barsOf(moves.get('b')!, idle, T)).toEqual([{ from: T + 15_000, to: T + 20_000, kind: 'failed' }])
})

test('the lane of a node that had been running for 24 minutes was empty', () => {
  const bars = barsOf([], { status: 'running', ranAt: T }, T + 24 * 60_000)
  expect(bars).toEqual([{ from: T, to: T + 24 * 60_000, kind: 'running' }])
})

test.each([
  [events[0]!, { who: 'a', did: 'is queued' }],
  [events[1]!, { who: 'a', did: 'suspended after 5.0 s' }],
  [events[2]!, { who: 'b', did: 'failed after 5.0 s, attempt 4' }],
  [event(0, { counts: [{ node: null, dir: 'out', port: 'y', was: 0, is: 1 }] }), { who: 'y', did: 'holds 1 value' }],
  [event(0, { more: 7 }), { who: 'the flow', did: 'changed, but the recording has no details' }],
])('event %# is described in words', (one, said) => {
  expect(eventText(one)).toEqual(said)
})

import type { Status } from '../../core/job.ts'
import { MINUTE } from '../../core/units.ts'
import { type End, endText, type Wired, wiresOf } from '../../core/wires.ts'
import type { FlowEvent, FlowNodeView, WireView } from '../../engine/engine.ts'
import { isBad } from './job.ts'
import { many, span } from './text.ts'

type Move = FlowEvent['moves'][number] & { at: number }
type Count = { at: number; was: number; is: number }
type PortDir = 'in' | 'out'

export type Timeline = { moves: Map<string | null, Move[]>; counts: Map<string, Count[]> }

const portKey = (node: string | null, dir: PortDir, port: string): string => JSON.stringify([node, dir, port])

export function timelineOf(events: readonly FlowEvent[]): Timeline {
  const moves = events.flatMap(({ at, moves }) => moves.map((move) => ({ ...move, at })))
  const counts = events.flatMap(({ at, counts }) => counts.map((count) => ({ ...count, at })))
  return {
    moves: Map.groupBy(moves, ({ node }) => node),
    counts: Map.groupBy(counts, ({ node, dir, port }) => portKey(node, dir, port)),
  }
}

export function lastBy(list: readonly { at: number }[], at: number): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (list[middle]!.at <= at) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** A run is recorded only at its end, so the next move, or the current run, shows whether the node was running. */
function nodeAt(node: FlowNodeView, moves: readonly Move[], at: number): FlowNodeView {
  const last = lastBy(moves, at)
  const [before, after] = [moves[last], moves[last + 1]]
  const started = after ? after.was === 'running' && after.run?.startedAt : node.status === 'running' && node.ranAt
  const begun = started && started <= at ? started : null
  const status: Status | null = begun ? 'running' : before ? before.is : after ? after.was : node.status
  const ran = moves.slice(0, last + 1).findLast(({ run }) => run !== null)
  return {
    ...node,
    status,
    ranAt: begun ?? (status === 'running' ? node.ranAt : null),
    lastRun: ran?.run ?? (before || after ? null : node.lastRun),
    limit: null,
    leaseUntil: null,
    until: null,
  }
}

const countAt = (counts: readonly Count[], at: number, now: number): number => {
  const last = lastBy(counts, at)
  return counts[last]?.is ?? counts[last + 1]?.was ?? now
}

/** Assumes that values are read in order. */
function oldestOf(counts: readonly Count[], at: number, waiting: number): number | null {
  let left = waiting
  for (let i = lastBy(counts, at); i >= 0 && waiting > 0; i--) {
    left -= Math.max(0, counts[i]!.is - counts[i]!.was)
    if (left <= 0) return counts[i]!.at
  }
  return waiting > 0 ? (counts[0]?.at ?? null) : null
}

const readBy = (counts: readonly Count[], at: number): number =>
  counts
    .slice(lastBy(counts, at - MINUTE) + 1, lastBy(counts, at) + 1)
    .reduce((sum, { was, is }) => sum + Math.max(0, was - is), 0)

/** The board now. Parts without recorded events have always looked like this. */
export type BoardNow = { graph: Wired & GraphNodes; nodes: readonly FlowNodeView[]; wires: readonly WireView[] }
type GraphNodes = { nodes: Record<string, { queue?: string; class: string }> }

const unmade = (name: string, node: { queue?: string; class: string }): FlowNodeView => ({
  name,
  queue: node.queue ?? 'default',
  class: node.class,
  job: null,
  status: null,
  ranAt: null,
  lastRun: null,
  limit: null,
  leaseUntil: null,
  until: null,
})

export function momentOf(timeline: Timeline, { graph, nodes, wires }: BoardNow, at: number) {
  const countsOf = ({ node, port }: End, isNear: boolean) =>
    timeline.counts.get(portKey(node, (node === null) === isNear ? 'in' : 'out', port)) ?? []
  return {
    isPast: true,
    nodes: Object.entries(graph.nodes).map(([name, node]) =>
      nodeAt(nodes.find((one) => one.name === name) ?? unmade(name, node), timeline.moves.get(name) ?? [], at),
    ),
    wires: wiresOf(graph).map((wire): WireView => {
      const is = wires.find(({ id }) => id === wire.id)
      const [near, far] = [countsOf(wire.from, true), countsOf(wire.to, false)]
      const [size, behind] = [countAt(far, at, is?.size ?? 0), countAt(near, at, is?.behind ?? 0)]
      return {
        ...wire,
        laid: is?.laid ?? true,
        size,
        behind,
        oldest: null,
        passed: is?.passed.filter((one) => one.at !== null && one.at <= at) ?? [],
        in: [],
        out: [],
        oldestAt: size > 0 ? oldestOf(far, at, size) : oldestOf(near, at, behind),
        rate: readBy(far, at),
      }
    }),
  }
}

export type Bar = { from: number; to: number; kind: 'done' | 'failed' | 'running' }

/** The events have ended runs only, so the current run comes from the node. */
export function barsOf(moves: readonly Move[], { status, ranAt }: Pick<FlowNodeView, 'status' | 'ranAt'>, now: number) {
  const bars = moves.flatMap(({ run }): Bar[] =>
    run ? [{ from: run.startedAt, to: run.endedAt, kind: isBad(run.outcome) ? 'failed' : 'done' }] : [],
  )
  if (status === 'running' && ranAt !== null) bars.push({ from: ranAt, to: now, kind: 'running' })
  return bars
}

const moveText = ({ node, is, run }: FlowEvent['moves'][number]): { who: string; did: string } => ({
  who: node ?? 'the flow',
  did: run
    ? `${run.outcome} after ${span(run.endedAt - run.startedAt)}${run.attempt > 1 ? `, attempt ${run.attempt}` : ''}`
    : `is ${is}`,
})

export function eventText({ moves, counts }: FlowEvent): { who: string; did: string } {
  const bad = moves.find(({ is, run }) => is === 'failed' || isBad(run?.outcome))
  const move = bad ?? moves.find(({ run }) => run !== null) ?? moves[0]
  if (move) return moveText(move)
  const [count] = counts
  if (!count) return { who: 'the flow', did: 'changed, but the recording has no details' }
  return { who: endText({ node: count.node, port: count.port }), did: `holds ${many(count.is, 'value')}` }
}

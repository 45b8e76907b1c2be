// Places nodes and wires in layers from left to right, with dagre.

import { Graph, layout as lay } from '@dagrejs/dagre'
import type { End, GraphWire } from '../../../core/wires.ts'

export type Box = { x: number; y: number; width: number; height: number }

export type Placed = { name: string; box: Box; ins: string[]; outs: string[] }
export type Route = { path: string; middle: { x: number; y: number } }
export type Layout = {
  nodes: Map<string, Placed>
  ports: Map<string, { port: string; box: Box }>
  wires: Map<string, Route>
  box: Box
}

const [WIDTH, HEIGHT, ROW, PILL] = [156, 76, 22, 30] as const
export const LABEL = { width: 96, height: 22 }
/** With more nodes than this, a wire has a label only when it backs up or is pointed at, and the board has a map. */
export const LARGE = 60

/** Prefixes, because dagre keeps names in objects, and a node may be called `constructor`. */
const keyOf = (node: string): string => `node:${node}`
const ownIn = (port: string): string => `in:${port}`
const ownOut = (port: string): string => `out:${port}`
const startOf = ({ from }: GraphWire): string => (from.node === null ? ownIn(from.port) : keyOf(from.node))
const endOf = ({ to }: GraphWire): string => (to.node === null ? ownOut(to.port) : keyOf(to.node))

type Named = { name: string; ins?: readonly string[]; outs?: readonly string[] }

function portsAt(node: Named, wires: readonly GraphWire[]): { ins: string[]; outs: string[] } {
  const ins = wires.filter(({ to }) => to.node === node.name).map(({ to }) => to.port)
  const outs = wires.filter(({ from }) => from.node === node.name).map(({ from }) => from.port)
  return { ins: [...new Set([...ins, ...(node.ins ?? [])])], outs: [...new Set([...outs, ...(node.outs ?? [])])] }
}

export const portY = ({ height }: Box, ports: readonly string[], port: string): number =>
  (height * (ports.indexOf(port) + 1)) / (ports.length + 1)

const pillWidth = (port: string): number => Math.max(48, port.length * 8.2 + 26)

type Point = { x: number; y: number }
type Bent = { points?: Point[]; x?: number; y?: number }
const round = (n: number): number => Math.round(n * 10) / 10

function curve(points: readonly Point[]): string {
  const [first, ...rest] = points as [Point, ...Point[]]
  let [text, at] = [`M${round(first.x)} ${round(first.y)}`, first]
  for (const to of rest) {
    const reach = Math.max(24, (to.x - at.x) / 2)
    text += `C${round(at.x + reach)} ${round(at.y)} ${round(to.x - reach)} ${round(to.y)} ${round(to.x)} ${round(to.y)}`
    at = to
  }
  return text
}

/** Back to the left: below everything that is in between. */
function around(from: Point, to: Point, floor: number): string {
  const [a, b] = [from.x, to.x]
  return [
    `M${round(a)} ${round(from.y)}C${round(a + 46)} ${round(from.y)} ${round(a + 46)} ${round(floor)} ${round(a - 6)} ${round(floor)}`,
    `H${round(b + 4)}C${round(b - 50)} ${round(floor)} ${round(b - 46)} ${round(to.y)} ${round(b)} ${round(to.y)}`,
  ].join('')
}

function place(nodes: readonly Named[], wires: readonly GraphWire[]) {
  const graph = new Graph({ multigraph: true })
  graph.setGraph({ rankdir: 'LR', nodesep: 44, ranksep: 48, edgesep: 26, marginx: 8, marginy: 8 })
  graph.setDefaultEdgeLabel(() => ({}))
  const ports = new Map(nodes.map((node) => [node.name, portsAt(node, wires)]))
  for (const [name, { ins, outs }] of ports)
    graph.setNode(keyOf(name), {
      width: WIDTH,
      height: Math.max(HEIGHT, (Math.max(ins.length, outs.length) + 1) * ROW),
    })
  const label = nodes.length > LARGE ? {} : LABEL
  for (const wire of wires) {
    if (wire.from.node === null) graph.setNode(startOf(wire), { width: pillWidth(wire.from.port), height: PILL })
    if (wire.to.node === null) graph.setNode(endOf(wire), { width: pillWidth(wire.to.port), height: PILL })
  }
  for (const wire of wires)
    if (graph.hasNode(startOf(wire)) && graph.hasNode(endOf(wire)))
      graph.setEdge(startOf(wire), endOf(wire), { minlen: 1, labelpos: 'c', ...label }, wire.id)
  lay(graph)
  return { graph, ports }
}

type Laid = ReturnType<typeof place>['graph']

function boxAt(graph: Laid, name: string): Box {
  const { x, y, width, height } = graph.node(name) as Box
  return { x: round(x - width / 2), y: round(y - height / 2), width, height }
}

function route(wire: GraphWire, graph: Laid, nodes: Layout['nodes']): Route {
  const [start, end] = [boxAt(graph, startOf(wire)), boxAt(graph, endOf(wire))]
  const outs = nodes.get(wire.from.node ?? '')?.outs ?? [wire.from.port]
  const ins = nodes.get(wire.to.node ?? '')?.ins ?? [wire.to.port]
  const from = { x: start.x + start.width, y: start.y + portY(start, outs, wire.from.port) }
  const to = { x: end.x, y: end.y + portY(end, ins, wire.to.port) }
  if (to.x <= from.x) {
    const between = [...nodes.values()].filter(({ box }) => box.x + box.width >= to.x && box.x <= from.x)
    const floor = Math.max(...between.map(({ box }) => box.y + box.height), start.y + start.height) + 36
    return { path: around(from, to, floor), middle: { x: (from.x + to.x) / 2, y: floor } }
  }
  const { points = [], x, y } = graph.edge({ v: startOf(wire), w: endOf(wire), name: wire.id }) as Bent
  // A wire that passes several layers goes around their nodes, and each goes through the room of its label.
  const bends = points.length > 3 ? points.slice(1, -1).filter((_, i) => i % 2 === 1) : []
  const label = x === undefined || y === undefined ? [] : [{ x, y }]
  const through = [...bends.filter((bend) => Math.abs(bend.x - (x ?? Number.NaN)) >= LABEL.width), ...label]
  const inner = through.filter((bend) => bend.x > from.x + 20 && bend.x < to.x - 20).sort((a, b) => a.x - b.x)
  const line = [from, ...inner, to]
  const [a, b] = [line[Math.floor((line.length - 1) / 2)]!, line[Math.floor((line.length - 1) / 2) + 1]!]
  return { path: curve(line), middle: label[0] ?? { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 } }
}

function bounds(boxes: readonly Box[], paths: readonly Route[]): Box {
  const left = Math.min(...boxes.map(({ x }) => x), 0)
  const right = Math.max(...boxes.map(({ x, width }) => x + width), 1)
  const top = Math.min(...boxes.map(({ y }) => y), 0)
  const bottom = Math.max(...boxes.map(({ y, height }) => y + height), ...paths.map(({ middle }) => middle.y), 1)
  return { x: left - 56, y: top - 28, width: right - left + 112, height: bottom - top + 56 }
}

/** Lays out a graph; wires that go back are led below. */
export function layout(nodes: readonly Named[], wires: readonly GraphWire[]): Layout {
  const known = new Set(nodes.map(({ name }) => name))
  const isThere = ({ node }: End) => node === null || known.has(node)
  const there = wires.filter(({ from, to }) => isThere(from) && isThere(to))
  const { graph, ports } = place(nodes, there)
  const placed = new Map(nodes.map(({ name }) => [name, { name, box: boxAt(graph, keyOf(name)), ...ports.get(name)! }]))
  const own = new Map(
    there.flatMap((wire) => [
      ...(wire.from.node === null
        ? [[startOf(wire), { port: wire.from.port, box: boxAt(graph, startOf(wire)) }] as const]
        : []),
      ...(wire.to.node === null
        ? [[endOf(wire), { port: wire.to.port, box: boxAt(graph, endOf(wire)) }] as const]
        : []),
    ]),
  )
  const routes = new Map(there.map((wire) => [wire.id, route(wire, graph, placed)]))
  const boxes = [...placed.values(), ...own.values()].map(({ box }) => box)
  return { nodes: placed, ports: own, wires: routes, box: bounds(boxes, [...routes.values()]) }
}

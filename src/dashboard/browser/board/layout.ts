import { Graph, layout as lay } from '@dagrejs/dagre'
import type { End, GraphWire } from '../../../core/wires.ts'

export type Box = { x: number; y: number; width: number; height: number }

export type Placed = { name: string; box: Box; ins: string[]; outs: string[] }
type Route = { path: string; middle: Point; box: Box }
/** The Tab key visits nodes and wires in this order: by row, and from left to right. */
export type Layout = {
  nodes: Map<string, Placed>
  ports: Map<string, { port: string; box: Box }>
  wires: Map<string, Route>
  box: Box
}

const [WIDTH, HEIGHT, ROW, PILL] = [166, 76, 22, 30] as const
export const LABEL = { width: 104, height: 22 }
/** Pixels: distance of columns, distances of parallel horizontal and vertical wires, and radius of their bends. */
const [GAP, LANE, TRACK, BEND] = [18, 28, 9, 6] as const
/** Space between a port's name and the next column. */
const CLEAR = 3
const PORT_NAME = { letters: 14, letter: 7, offset: 7 } as const
/** A graph with more nodes than this is drawn in one row, because its shape then matters more than its texts. */
const MOST_WRAPPED = 16

export const clip = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text)
export const shortPort = (port: string): string => clip(port, PORT_NAME.letters)

/** Dagre uses names as object keys, so the prefix protects a node called `constructor`. */
const keyOf = (node: string): string => `node:${node}`
const startOf = ({ from }: GraphWire): string => (from.node === null ? `in:${from.port}` : keyOf(from.node))
const endOf = ({ to }: GraphWire): string => (to.node === null ? `out:${to.port}` : keyOf(to.node))

const ownPorts = (wires: readonly GraphWire[]): { key: string; port: string }[] =>
  wires.flatMap((wire) => [
    ...(wire.from.node === null ? [{ key: startOf(wire), port: wire.from.port }] : []),
    ...(wire.to.node === null ? [{ key: endOf(wire), port: wire.to.port }] : []),
  ])

export type Named = { name: string; ins?: readonly string[]; outs?: readonly string[] }

function portsAt(node: Named, wires: readonly GraphWire[]): { ins: string[]; outs: string[] } {
  const ins = wires.filter(({ to }) => to.node === node.name).map(({ to }) => to.port)
  const outs = wires.filter(({ from }) => from.node === node.name).map(({ from }) => from.port)
  return { ins: [...new Set([...ins, ...(node.ins ?? [])])], outs: [...new Set([...outs, ...(node.outs ?? [])])] }
}

export const portY = ({ height }: Box, ports: readonly string[], port: string): number =>
  (height * (ports.indexOf(port) + 1)) / (ports.length + 1)

const pillWidth = (port: string): number => Math.max(48, port.length * 8.2 + 26)

export type Point = { x: number; y: number }
type Bent = { points?: Point[]; x?: number; y?: number }
const round = (n: number): number => Math.round(n * 10) / 10

const curve = (points: readonly Point[]): string =>
  points
    .map(({ x, y }, i) => {
      const before = points[i - 1]
      if (!before) return `${round(x)} ${round(y)}`
      if (before.y === y) return `H${round(x)}`
      const middle = round((before.x + x) / 2)
      return `C${middle} ${round(before.y)} ${middle} ${round(y)} ${round(x)} ${round(y)}`
    })
    .join('')

function boxAround(parts: readonly (Point & Partial<Box>)[]): Box {
  const [x, y] = [Math.min(...parts.map((one) => one.x)), Math.min(...parts.map((one) => one.y))]
  const right = Math.max(...parts.map((one) => one.x + (one.width ?? 0)))
  return { x, y, width: right - x, height: Math.max(...parts.map((one) => one.y + (one.height ?? 0))) - y }
}

/** Returns the wires that close a cycle. Not recursive, because a long chain would fill the stack. */
function backWires(nodes: Iterable<string>, wires: readonly GraphWire[]) {
  const leaving = Map.groupBy(wires, ({ from }) => from.node)
  const back = new Set<string>()
  const isOpen = new Map<End['node'], boolean>()
  const path: { node: End['node']; isDone?: true }[] = [...[...nodes].reverse(), null].map((node) => ({ node }))
  for (let at = path.pop(); at; at = path.pop()) {
    const { node, isDone } = at
    if (isDone) isOpen.set(node, false)
    if (isOpen.has(node)) continue
    isOpen.set(node, node !== null)
    path.push({ node, isDone: true })
    for (const { id, to } of leaving.get(node)?.toReversed() ?? [])
      if (isOpen.get(to.node)) back.add(id)
      else path.push(to)
  }
  return back
}

type Ports = Map<string, { ins: string[]; outs: string[] }>

/** A wire between two rows ends as a stub in each row. `stubs`: length of each stub, in columns of nodes. */
type Asked = {
  wires: readonly GraphWire[]
  back: Set<string>
  top: number
  stubs: Map<string, number>
}

function place(ports: Ports, { wires, back, stubs }: Asked) {
  const graph = new Graph({ multigraph: true })
  graph.setGraph({ rankdir: 'LR', nodesep: 34, ranksep: 2 * GAP, edgesep: 26 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const [name, { ins, outs }] of ports)
    graph.setNode(keyOf(name), {
      width: WIDTH,
      height: Math.max(HEIGHT, (Math.max(ins.length, outs.length) + 1) * ROW),
    })
  for (const { key, port } of ownPorts(wires))
    graph.setNode(key, stubs.has(key) ? { width: 0, height: BEND } : { width: pillWidth(port), height: PILL })
  for (const wire of wires) {
    const [start, end] = [startOf(wire), endOf(wire)]
    const minlen = stubs.get(start) ?? stubs.get(end)
    if (!isLoop(wire, back)) graph.setEdge(start, end, minlen ? { minlen } : { labelpos: 'c', ...LABEL }, wire.id)
  }
  lay(graph)
  return graph
}

const isLoop = ({ id, from, to }: GraphWire, back: Set<string>): boolean =>
  back.has(id) && from.node !== null && to.node !== null

type Column = { left: number; right: number; centre: number }

/** Sets horizontal positions. Dagre sets the order of columns and all vertical positions. */
function columnsOf(graph: ReturnType<typeof place>, ports: Ports) {
  const extents = new Map<number, { left: number; right: number }>()
  const extend = (x: number, left: number, right = left): void => {
    const was = extents.get(round(x)) ?? { left: 0, right: 0 }
    extents.set(round(x), { left: Math.max(was.left, left), right: Math.max(was.right, right) })
  }
  const namesWidth = (names: readonly string[]): number =>
    names.length < 2
      ? 0
      : Math.max(...names.map((port) => shortPort(port).length)) * PORT_NAME.letter + PORT_NAME.offset + CLEAR
  for (const key of graph.nodes()) {
    const { x, width } = graph.node(key) as Box
    extend(x, width / 2)
  }
  for (const [name, { ins, outs }] of ports)
    extend((graph.node(keyOf(name)) as Box).x, WIDTH / 2 + namesWidth(ins), WIDTH / 2 + namesWidth(outs))
  for (const edge of graph.edges()) {
    const { points = [], x } = graph.edge(edge) as Bent
    for (const point of points.slice(1, -1)) extend(point.x, 0)
    if (x !== undefined) extend(x, LABEL.width / 2)
  }
  const columns = new Map<number, Column>()
  let end = -GAP
  for (const [x, { left, right }] of [...extents].sort(([a], [b]) => a - b)) {
    const start = end + GAP
    columns.set(x, { left: start, centre: start + left, right: start + left + right })
    end = start + left + right
  }
  return columns
}

function createTracks(space: number) {
  const taken: { low: number; high: number }[][] = []
  return (from: number, to: number): number => {
    const [low, high] = [Math.min(from, to) - TRACK, Math.max(from, to) + TRACK]
    const free = taken.findIndex((all) => all.every((one) => one.high < low || high < one.low))
    const track = free < 0 ? taken.push([]) - 1 : free
    taken[track]!.push({ low, high })
    return track * space
  }
}

/** A wire that leaves to the right, and returns to the left at the height `low`. */
type Detour = { id: string; out: Point[]; into: Point[]; right: number; left: number; low: number; x?: number }

function detourOf({ id, out, into, right, left, low, x = (right + left) / 2 }: Detour): [string, Route] {
  const [from, to] = [out.at(-1)!, into[0]!]
  const [a, b, y] = [round(right), round(left), round(low)]
  const [down, up] = [y > from.y ? BEND : -BEND, to.y > y ? BEND : -BEND]
  const path = [
    `M${curve(out)}H${a - BEND}Q${a} ${round(from.y)} ${a} ${round(from.y + down)}`,
    `V${y - down}Q${a} ${y} ${a - BEND} ${y}H${b + BEND}Q${b} ${y} ${b} ${y + up}`,
    `V${round(to.y - up)}Q${b} ${round(to.y)} ${b + BEND} ${round(to.y)}H${curve(into).replace(' ', 'V')}`,
  ].join('')
  return [id, { path, middle: { x, y: low }, box: boxAround([...out, ...into, { x: right, y }, { x: left, y }]) }]
}

/** Sorts ports by the other ends of their wires, so that fewer wires cross. */
function sortPorts(ports: Ports, nodes: readonly Named[], graph: ReturnType<typeof place>, { wires, back }: Asked) {
  const yOf = (key: string): number => (graph.node(key) as Box).y
  const heightOf = (wire: GraphWire): number => (isLoop(wire, back) ? 1e9 : yOf(startOf(wire)) + yOf(endOf(wire)))
  const ordered = wires.toSorted((a, b) => heightOf(a) - heightOf(b))
  for (const node of nodes) ports.set(node.name, portsAt(node, ordered))
}

/** The positions of nodes, ports and ends of wires in a row. */
function gridOf(nodes: readonly Named[], asked: Asked) {
  const ports: Ports = new Map(nodes.map((node) => [node.name, portsAt(node, asked.wires)]))
  const graph = place(ports, asked)
  sortPorts(ports, nodes, graph, asked)
  const columns = columnsOf(graph, ports)
  const nodeAt = (key: string) => graph.node(key) as Box & { rank: number }
  const columnAt = (x: number): Column => columns.get(round(x))!
  const columnOf = (key: string): Column => columnAt(nodeAt(key).x)
  const boxOf = (key: string): Box => {
    const { y, width, height } = nodeAt(key)
    return { x: round(columnOf(key).centre - width / 2), y: round(y - height / 2 + asked.top), width, height }
  }
  const endsOf = (wire: GraphWire) => {
    const [a, b] = [boxOf(startOf(wire)), boxOf(endOf(wire))]
    const outs = ports.get(wire.from.node ?? '')?.outs ?? [wire.from.port]
    const ins = ports.get(wire.to.node ?? '')?.ins ?? [wire.to.port]
    return {
      from: { x: a.x + a.width, y: a.y + portY(a, outs, wire.from.port) },
      to: { x: b.x, y: b.y + portY(b, ins, wire.to.port) },
      start: columnOf(startOf(wire)),
      end: columnOf(endOf(wire)),
    }
  }
  const bentOf = (wire: GraphWire) => graph.edge({ v: startOf(wire), w: endOf(wire), name: wire.id }) as Bent
  const layerOf = (key: string): number => nodeAt(key).rank / 2
  return { keys: graph.nodes(), ports, columns: [...columns.values()], columnAt, boxOf, endsOf, bentOf, layerOf }
}

type Grid = ReturnType<typeof gridOf>

/** A stub has a line, but no route. */
function lineOf(wire: GraphWire, { columnAt, endsOf, bentOf }: Grid, top: number) {
  const { from, to, start, end } = endsOf(wire)
  const { points, x, y } = bentOf(wire)
  const inner = points!.slice(1, -1).flatMap((point) => {
    const { left, right } = columnAt(point.x)
    return [left, right].map((x) => ({ x, y: point.y + top }))
  })
  const line = [from, { x: start.right, y: from.y }, ...inner, { x: end.left, y: to.y }, to]
  const bottom = Math.max(...inner.map(({ y }) => y + LABEL.height / 2))
  if (x === undefined) return { line, bottom }
  const middle = { x: columnAt(x).centre, y: y! + top }
  const route: Route = { path: `M${curve(line)}`, middle, box: boxAround(line) }
  return { line, bottom, route }
}

function loopsOf(wires: readonly GraphWire[], { columns, endsOf }: Grid, floor: number): Detour[] {
  const laneAt = createTracks(LANE)
  return wires
    .map((wire) => ({ id: wire.id, ...endsOf(wire) }))
    .sort((a, b) => a.start.right - a.end.left - b.start.right + b.end.left)
    .map(({ id, from, to, start, end }, i) => {
      const step = (i % 3) * 3 - 3
      const [right, left] = [start.right + GAP / 2 + step, end.left - GAP / 2 - step]
      // Labels are inside columns, because the vertical parts of wires are between columns.
      const distance = ({ centre }: Column): number => Math.abs(centre - (right + left) / 2)
      const x = columns.toSorted((a, b) => distance(a) - distance(b))[0]!.centre
      return { id, out: [from], into: [to], right, left, low: floor + laneAt(left, right), x }
    })
}

function rowOf(nodes: readonly Named[], asked: Asked) {
  const { wires, back, top, stubs } = asked
  const grid = gridOf(nodes, asked)
  const { keys, ports, columns, boxOf, layerOf } = grid
  const { loops = [], ahead = [] } = Object.groupBy(wires, (wire) => (isLoop(wire, back) ? 'loops' : 'ahead'))
  const lines = new Map(ahead.map((wire) => [wire.id, lineOf(wire, grid, top)]))
  const bottoms = [
    ...keys.map(boxOf).map(({ y, height }) => y + height),
    ...[...lines.values()].map((one) => one.bottom),
  ]
  const floor = Math.max(top, ...bottoms)
  const detours = loopsOf(loops, grid, floor + LANE)
  const routes = [...lines].flatMap(([id, { route }]) => (route ? [[id, route] as const] : []))
  return {
    nodes: nodes
      .map(({ name }): Placed => ({ name, box: boxOf(keyOf(name)), ...ports.get(name)! }))
      .sort((a, b) => a.box.x - b.box.x),
    ports: ownPorts(wires).flatMap(({ key, port }) =>
      stubs.has(key) ? [] : [[key, { port, box: boxOf(key) }] as const],
    ),
    routes: [...routes, ...detours.map(detourOf)].sort(([, a], [, b]) => a.middle.x - b.middle.x),
    lineOf: (id: string): Point[] => lines.get(id)!.line,
    bottom: Math.max(floor, ...detours.map(({ low }) => low)),
    right: Math.max(0, ...columns.map((column) => column.right)),
    layers: Math.max(0, ...keys.map(layerOf)) + 1,
    layerOf,
  }
}

type Row = ReturnType<typeof rowOf>
type Between = { id: string; from: number; to: number; lane: number }

function routesBetween(rows: readonly Row[], between: readonly Between[]): [string, Route][] {
  const edge = Math.max(...rows.map(({ right }) => right)) + GAP
  const [rightAt, leftAt] = [createTracks(TRACK), createTracks(TRACK)]
  const used: number[] = []
  // From bottom to top, so that wires enclose each other and do not cross.
  return between
    .map(({ id, from, to, lane }) => {
      const [out, into] = [rows[from]!.lineOf(id), rows[to]!.lineOf(id)]
      return { id, lane, out, into, y: out.at(-1)!.y }
    })
    .sort((a, b) => b.y - a.y)
    .map((wire) => {
      used[wire.lane] = (used[wire.lane] ?? 0) + 1
      const low = rows[wire.lane - 1]!.bottom + LANE * used[wire.lane]!
      return { ...wire, low, right: edge + rightAt(wire.y, low) }
    })
    .reverse()
    .map((wire) => detourOf({ ...wire, left: -GAP - leftAt(wire.low, wire.into[0]!.y) }))
}

function wrapped({ layerOf, layers }: Row, nodes: readonly Named[], asked: Asked, most: number) {
  const parts = Array.from({ length: Math.ceil(layers / most) }, (): GraphWire[] => [])
  const rowAt = (layer: number): number => Math.floor(layer / most)
  const [stubs, between] = [new Map<string, number>(), [] as Between[]]
  for (const wire of asked.wires) {
    const [start, end] = [startOf(wire), endOf(wire)]
    // A port of the flow is in the row of its node, unless each layer has its own row.
    const out = layerOf(wire.from.node === null && most > 1 ? end : start)
    const into = layerOf(wire.to.node === null && most > 1 ? start : end)
    const [from, to] = [rowAt(out), rowAt(into)]
    if (from === to) {
      parts[from]!.push(wire)
      continue
    }
    const stub = { node: null, port: `stub ${wire.id}` }
    stubs.set(`out:${stub.port}`, most - (out % most)).set(`in:${stub.port}`, (into % most) + 1)
    parts[from]!.push({ ...wire, to: stub })
    parts[to]!.push({ ...wire, from: stub })
    between.push({ id: wire.id, from, to, lane: from > to ? to + 1 : to })
  }
  const rows: Row[] = []
  for (const [i, wires] of parts.entries()) {
    const lanes = between.filter(({ lane }) => lane === i).length
    const top = (rows.at(-1)?.bottom ?? 0) + LANE * (lanes + 0.7)
    const inside = nodes.filter(({ name }) => rowAt(layerOf(keyOf(name))) === i)
    rows.push(rowOf(inside, { ...asked, wires, top, stubs }))
  }
  rows[0]!.routes.push(...routesBetween(rows, between))
  return rows
}

function joined(rows: readonly Row[]): Layout {
  const placed = rows.flatMap((row) => row.nodes)
  const own = rows.flatMap((row) => row.ports)
  const routes = rows.flatMap((row) => row.routes)
  const boxes = [...placed, ...own.map(([, port]) => port), ...routes.map(([, route]) => route)].map(({ box }) => box)
  const { x, y, width, height } = boxAround([{ x: 0, y: 0 }, { x: 1, y: 1 }, ...boxes])
  return {
    nodes: new Map(placed.map((one) => [one.name, one])),
    ports: new Map(own),
    wires: new Map(routes),
    // The top margin is larger, because the toolbar covers it.
    box: { x: x - 16, y: y - 56, width: width + 32, height: height + 72 },
  }
}

export type Room = { width: number; height: number }

/** Nodes without wires are below all wired nodes, so that a new node moves no node. */
export function layout(
  nodes: readonly Named[],
  wires: readonly GraphWire[],
  room: Room = { width: Infinity, height: Infinity },
): Layout {
  const known = new Set(nodes.map(({ name }) => name))
  const isThere = ({ node }: End) => node === null || known.has(node)
  const there = wires.filter(({ from, to }) => isThere(from) && isThere(to))
  const ends = new Set(there.flatMap(({ from, to }) => [from.node, to.node]))
  const { wired = [], loose = [] } = Object.groupBy(nodes, ({ name }) => (ends.has(name) ? 'wired' : 'loose'))
  const asked = { wires: there, back: backWires(known, there), top: 0, stubs: new Map() }
  const whole = rowOf(wired, asked)
  const scaleOf = ({ width, height }: Box): number => Math.min(1, room.width / width, room.height / height)
  let rows = [whole]
  let scale = nodes.length > MOST_WRAPPED ? 1 : scaleOf(joined(rows).box)
  for (let most = whole.layers - 1; most > 0 && scale < 1; most--) {
    const shorter = wrapped(whole, wired, asked, most)
    const other = scaleOf(joined(shorter).box)
    if (other > scale) [rows, scale] = [shorter, other]
  }
  if (loose.length === 0) return joined(rows)
  const top = wired.length > 0 ? rows.at(-1)!.bottom + LANE : 0
  return joined([...rows, rowOf(loose, { ...asked, wires: [], top })])
}

import { Graph, layout as lay } from '@dagrejs/dagre'
import type { End, GraphWire } from '../../../core/wires.ts'

export type Box = { x: number; y: number; width: number; height: number }

export type Placed = { name: string; box: Box; ins: string[]; outs: string[] }
export type Route = { path: string; middle: { x: number; y: number }; box: Box }
export type Layout = {
  nodes: Map<string, Placed>
  ports: Map<string, { port: string; box: Box }>
  wires: Map<string, Route>
  box: Box
}

const [WIDTH, HEIGHT, ROW, PILL] = [166, 76, 22, 30] as const
export const LABEL = { width: 108, height: 22 }
/** Distance between columns, distance between the lanes of backward wires, and radius of bends. */
const [GAP, LANE, BEND] = [18, 34, 6] as const
/** Minimum space between a wire and a label, a node or the name of a port. */
const CLEAR = 3
const PORT_NAME = { letters: 14, letter: 6.7, offset: 7 } as const

export const clip = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text)
export const shortPort = (port: string): string => clip(port, PORT_NAME.letters)

/** Prefixed, because Dagre uses names as object keys, and a node may be called `constructor`. */
const keyOf = (node: string): string => `node:${node}`
const startOf = ({ from }: GraphWire): string => (from.node === null ? `in:${from.port}` : keyOf(from.node))
const endOf = ({ to }: GraphWire): string => (to.node === null ? `out:${to.port}` : keyOf(to.node))

/** Ports of the flow itself. */
const ownPorts = (wires: readonly GraphWire[]): { key: string; port: string }[] =>
  wires.flatMap((wire) => [
    ...(wire.from.node === null ? [{ key: startOf(wire), port: wire.from.port }] : []),
    ...(wire.to.node === null ? [{ key: endOf(wire), port: wire.to.port }] : []),
  ])

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
    const reach = (to.x - at.x) / 2
    text += `C${round(at.x + reach)} ${round(at.y)} ${round(to.x - reach)} ${round(to.y)} ${round(to.x)} ${round(to.y)}`
    at = to
  }
  return text
}

function boxAround(points: readonly Point[]): Box {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)]
  const [x, y] = [Math.min(...xs), Math.min(...ys)]
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y }
}

const namesWidth = (ports: readonly string[]): number =>
  ports.length < 2
    ? 0
    : Math.max(...ports.map((port) => shortPort(port).length)) * PORT_NAME.letter + PORT_NAME.offset + CLEAR

function backWires(nodes: readonly Named[], wires: readonly GraphWire[]): Set<string> {
  const leaving = Map.groupBy(wires, ({ from }) => from.node)
  const [open, done, back] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const entered = wires.flatMap(({ from, to }) => (from.node === null && to.node !== null ? [to.node] : []))
  for (const first of [...entered, ...nodes.map(({ name }) => name)]) {
    // Not recursive, because a chain may have thousands of nodes.
    const path: { name: string; left: GraphWire[] }[] = []
    const enter = (name: string): void => {
      if (done.has(name)) return
      open.add(name)
      path.push({ name, left: [...(leaving.get(name) ?? [])] })
    }
    enter(first)
    for (let at = path.at(-1); at; at = path.at(-1)) {
      const wire = at.left.shift()
      if (!wire) {
        path.pop()
        open.delete(at.name)
        done.add(at.name)
      } else if (wire.to.node !== null && open.has(wire.to.node)) back.add(wire.id)
      else if (wire.to.node !== null) enter(wire.to.node)
    }
  }
  return back
}

type Ports = Map<string, { ins: string[]; outs: string[] }>

function place(wires: readonly GraphWire[], ports: Ports, back: Set<string>) {
  const graph = new Graph({ multigraph: true })
  graph.setGraph({ rankdir: 'LR', nodesep: 44, ranksep: 2 * GAP, edgesep: 26 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const [name, { ins, outs }] of ports)
    graph.setNode(keyOf(name), {
      width: WIDTH,
      height: Math.max(HEIGHT, (Math.max(ins.length, outs.length) + 1) * ROW),
    })
  for (const { key, port } of ownPorts(wires)) graph.setNode(key, { width: pillWidth(port), height: PILL })
  for (const wire of wires)
    if (!back.has(wire.id)) graph.setEdge(startOf(wire), endOf(wire), { minlen: 1, labelpos: 'c', ...LABEL }, wire.id)
  lay(graph)
  return graph
}

/** A layer of nodes, or a layer of labels between two node layers. */
type Column = { left: number; right: number; centre: number; bottom: number; solid: Box[] }

/** Dagre determines the order of columns and all vertical positions. */
function columnsOf(graph: Laid, ports: Ports): Columns {
  const extents = new Map<number, { left: number; right: number }>()
  const extend = (x: number, left: number, right: number): void => {
    const was = extents.get(round(x)) ?? { left: 0, right: 0 }
    extents.set(round(x), { left: Math.max(was.left, left), right: Math.max(was.right, right) })
  }
  for (const key of graph.nodes()) {
    const { x, width } = graph.node(key) as Box
    extend(x, width / 2, width / 2)
  }
  for (const [name, { ins, outs }] of ports)
    extend((graph.node(keyOf(name)) as Box).x, WIDTH / 2 + namesWidth(ins), WIDTH / 2 + namesWidth(outs))
  for (const edge of graph.edges()) {
    const { points = [], x } = graph.edge(edge) as Bent
    for (const point of points.slice(1, -1)) extend(point.x, 0, 0)
    if (x !== undefined) extend(x, LABEL.width / 2, LABEL.width / 2)
  }
  const columns: Columns = new Map()
  let end = -GAP
  for (const [x, { left, right }] of [...extents].sort(([a], [b]) => a - b)) {
    const start = end + GAP
    columns.set(x, { left: start, centre: start + left, right: start + left + right, bottom: 0, solid: [] })
    end = start + left + right
  }
  return columns
}

type Columns = Map<number, Column>
type Laid = ReturnType<typeof place>

function boxAt(graph: Laid, columns: Columns, name: string): Box {
  const { x, y, width, height } = graph.node(name) as Box
  return { x: round(columns.get(round(x))!.centre - width / 2), y: round(y - height / 2), width, height }
}

const isOver = ({ x, y }: Point, box: Box): boolean =>
  x > box.x - CLEAR && x < box.x + box.width + CLEAR && y > box.y - CLEAR && y < box.y + box.height + CLEAR

function pointsBetween(a: Point, b: Point): Point[] {
  const reach = Math.max(0, (b.x - a.x) / 2)
  const steps = 16 + Math.ceil(Math.abs(b.y - a.y) / 6)
  return Array.from({ length: steps + 1 }, (_, i) => {
    const [t, u] = [i / steps, 1 - i / steps]
    return {
      x: u ** 3 * a.x + 3 * u * u * t * (a.x + reach) + 3 * u * t * t * (b.x - reach) + t ** 3 * b.x,
      y: (u ** 3 + 3 * u * u * t) * a.y + (3 * u * t * t + t ** 3) * b.y,
    }
  })
}

/** Point of a wire in a column, where the wire may be horizontal. */
type Stop = { x: number; y: number; column: Column; own?: Box | undefined }

/** A wire is horizontal in a column only if a curve would touch a node, a name or the label of another wire. */
function lineOf(stops: readonly Stop[]): Point[] {
  const line: Point[] = [stops[0]!]
  for (const [i, stop] of stops.slice(1).entries()) {
    const [from, before] = [line.at(-1)!, stops[i]!]
    const solid = [...before.column.solid, ...stop.column.solid]
    const own = [before.own, stop.own]
    if (pointsBetween(from, stop).every((point) => solid.every((box) => own.includes(box) || !isOver(point, box)))) {
      line.push(stop)
      continue
    }
    if (from.x < before.column.right) line.push({ x: before.column.right, y: before.y })
    if (stop.x > stop.column.left) line.push({ x: stop.column.left, y: stop.y })
    line.push(stop)
  }
  return line
}

type Ends = { from: Point; to: Point; start: Column; end: Column }

function lanesBelow(columns: Columns) {
  const taken: { left: number; right: number; floor: number }[] = []
  return ({ from, to, start, end }: Ends): Route => {
    const step = (taken.length % 3) * 3 - 3
    const [right, left] = [start.right + GAP / 2 + step, end.left - GAP / 2 - step]
    const under = [...columns.values()].filter((one) => one.right >= end.left && one.left <= start.right)
    const above = taken.filter((one) => one.right >= left && one.left <= right).map(({ floor }) => floor)
    const floor = Math.max(from.y, to.y, ...under.map(({ bottom }) => bottom), ...above) + LANE
    taken.push({ left, right, floor })
    const [a, b, low] = [round(right), round(left), round(floor)]
    const path = [
      `M${round(from.x)} ${round(from.y)}H${a - BEND}Q${a} ${round(from.y)} ${a} ${round(from.y + BEND)}`,
      `V${low - BEND}Q${a} ${low} ${a - BEND} ${low}H${b + BEND}Q${b} ${low} ${b} ${low - BEND}`,
      `V${round(to.y + BEND)}Q${b} ${round(to.y)} ${b + BEND} ${round(to.y)}H${round(to.x)}`,
    ].join('')
    // Prefers the inside of a column, because vertical parts of wires run between columns.
    const far = ({ centre }: Column): number => Math.abs(centre - (right + left) / 2)
    const { centre } = under.sort((one, other) => far(one) - far(other))[0]!
    return { path, middle: { x: centre, y: floor }, box: boxAround([from, to, { x: a, y: low }, { x: b, y: low }]) }
  }
}

function nameBoxes({ box, ins, outs }: Placed): Box[] {
  const boxOf = (port: string, ports: readonly string[], isIn: boolean): Box => {
    const width = shortPort(port).length * PORT_NAME.letter
    const x = isIn ? box.x - PORT_NAME.offset - width : box.x + box.width + PORT_NAME.offset
    return { x, y: box.y + portY(box, ports, port) - 16, width, height: 12 }
  }
  return [ins, outs].flatMap((ports, i) => (ports.length < 2 ? [] : ports.map((port) => boxOf(port, ports, i === 0))))
}

const spanOf = ({ start, end }: Ends): number => start.right - end.left

function routesOf(
  wires: readonly GraphWire[],
  graph: Laid,
  columns: Columns,
  { nodes, ports }: Pick<Layout, 'nodes' | 'ports'>,
) {
  const columnAt = ({ x }: { x: number }): Column => columns.get(round(x))!
  const columnOf = (key: string): Column => columnAt(graph.node(key) as Box)
  const boxOf = (key: string): Box => (nodes.get(key.slice('node:'.length)) ?? ports.get(key)!).box
  const reach = (column: Column, y: number): void => {
    column.bottom = Math.max(column.bottom, y)
  }
  const fill = (column: Column, ...boxes: Box[]): void => {
    column.solid.push(...boxes)
    for (const { y, height } of boxes) reach(column, y + height)
  }
  for (const [name, placed] of nodes) fill(columnOf(keyOf(name)), placed.box, ...nameBoxes(placed))
  for (const [key, { box }] of ports) fill(columnOf(key), box)

  const labels = new Map<string, Box>()
  for (const edge of graph.edges()) {
    const { x, y, points = [] } = graph.edge(edge) as Bent & Point
    const column = columnAt({ x })
    const box = { x: column.centre - LABEL.width / 2, y: y - LABEL.height / 2, ...LABEL }
    fill(column, box)
    labels.set(edge.name!, box)
    for (const point of points.slice(1, -1)) reach(columnAt(point), point.y)
  }

  const endsOf = (wire: GraphWire): Ends => {
    const [start, end] = [boxOf(startOf(wire)), boxOf(endOf(wire))]
    const outs = nodes.get(wire.from.node ?? '')?.outs ?? [wire.from.port]
    const ins = nodes.get(wire.to.node ?? '')?.ins ?? [wire.to.port]
    return {
      from: { x: start.x + start.width, y: start.y + portY(start, outs, wire.from.port) },
      to: { x: end.x, y: end.y + portY(end, ins, wire.to.port) },
      start: columnOf(startOf(wire)),
      end: columnOf(endOf(wire)),
    }
  }

  const forward = (wire: GraphWire, label: Box): Route => {
    const { from, to, start, end } = endsOf(wire)
    const edge = graph.edge({ v: startOf(wire), w: endOf(wire), name: wire.id }) as Bent & Point
    const inner = (edge.points ?? []).slice(1, -1).map(({ x, y }): Stop => {
      const column = columnAt({ x })
      return { x: column.centre, y, column, own: round(x) === round(edge.x) ? label : undefined }
    })
    const first = { ...from, column: start, own: boxOf(startOf(wire)) }
    const last = { ...to, column: end, own: boxOf(endOf(wire)) }
    const line = lineOf([first, ...inner, last])
    return { path: curve(line), middle: { x: label.x + label.width / 2, y: edge.y }, box: boxAround(line) }
  }

  const below = lanesBelow(columns)
  const routes = new Map<string, Route>()
  for (const wire of wires) {
    const label = labels.get(wire.id)
    if (label) routes.set(wire.id, forward(wire, label))
  }
  const back = wires.filter(({ id }) => !labels.has(id)).map((wire) => ({ id: wire.id, ends: endsOf(wire) }))
  for (const { id, ends } of back.sort((a, b) => spanOf(a.ends) - spanOf(b.ends))) routes.set(id, below(ends))
  return routes
}

function bounds(boxes: readonly Box[], routes: readonly Route[]): Box {
  const corners = boxes.flatMap(({ x, y, width, height }) => [
    { x, y },
    { x: x + width, y: y + height },
  ])
  const middles = routes.map(({ middle }) => middle)
  const { x, y, width, height } = boxAround([{ x: 0, y: 0 }, { x: 1, y: 1 }, ...corners, ...middles])
  return { x: x - 28, y: y - 28, width: width + 56, height: height + 56 }
}

export function layout(nodes: readonly Named[], wires: readonly GraphWire[]): Layout {
  const known = new Set(nodes.map(({ name }) => name))
  const isThere = ({ node }: End) => node === null || known.has(node)
  const there = wires.filter(({ from, to }) => isThere(from) && isThere(to))
  const ports: Ports = new Map(nodes.map((node) => [node.name, portsAt(node, there)]))
  const back = backWires(nodes, there)
  const graph = place(there, ports, back)
  // Ports in the order of their other ends, because wires then cross less. Backward wires run below the nodes.
  const yOf = (key: string): number => (graph.node(key) as Box).y
  const heightOf = (wire: GraphWire): number => (back.has(wire.id) ? 1e9 : yOf(startOf(wire)) + yOf(endOf(wire)))
  const ordered = there.toSorted((a, b) => heightOf(a) - heightOf(b))
  for (const node of nodes) ports.set(node.name, portsAt(node, ordered))
  const columns = columnsOf(graph, ports)
  const placed = new Map(
    nodes.map(({ name }) => [name, { name, box: boxAt(graph, columns, keyOf(name)), ...ports.get(name)! }]),
  )
  const own = new Map(ownPorts(there).map(({ key, port }) => [key, { port, box: boxAt(graph, columns, key) }]))
  const routes = routesOf(there, graph, columns, { nodes: placed, ports: own })
  const boxes = [...placed.values(), ...own.values()].map(({ box }) => box)
  return { nodes: placed, ports: own, wires: routes, box: bounds(boxes, [...routes.values()]) }
}

import { type End, wiresOf } from '../../../core/wires.ts'

type GraphEnd = { node: string; outport: string }
type GraphTarget = { node: string; inport: string }
export type Node = { queue?: string; class: string; [more: string]: unknown }
export type Graph = {
  nodes: Record<string, Node>
  edges: { from: GraphEnd; to: GraphTarget }[]
  inports: Record<string, GraphTarget & { default?: unknown }>
  outports: Record<string, GraphEnd>
  [more: string]: unknown
}

export const idsOf = (graph: Graph) => new Set(wiresOf(graph).map(({ id }) => id))

const without = <Value>(record: Record<string, Value>, isRemoved: (name: string, value: Value) => boolean) =>
  Object.fromEntries(Object.entries(record).filter(([name, value]) => !isRemoved(name, value)))

export const withNode = (graph: Graph, name: string, node: Node): Graph => ({
  ...graph,
  nodes: { ...graph.nodes, [name]: { ...graph.nodes[name], ...node } },
})

export const withoutNode = (graph: Graph, name: string): Graph => ({
  ...graph,
  nodes: without(graph.nodes, (one) => one === name),
  edges: graph.edges.filter(({ from, to }) => from.node !== name && to.node !== name),
  inports: without(graph.inports, (_, { node }) => node === name),
  outports: without(graph.outports, (_, { node }) => node === name),
})

export function withWire(graph: Graph, from: End, to: End): Graph {
  if (from.node === null && to.node === null) return graph
  if (from.node === null)
    return {
      ...graph,
      inports: { ...graph.inports, [from.port]: { ...graph.inports[from.port], node: to.node!, inport: to.port } },
    }
  const source = { node: from.node, outport: from.port }
  if (to.node === null) return { ...graph, outports: { ...graph.outports, [to.port]: source } }
  return { ...graph, edges: [...graph.edges, { from: source, to: { node: to.node, inport: to.port } }] }
}

export function withoutWire(graph: Graph, id: string): Graph {
  const at = wiresOf(graph).findIndex((wire) => wire.id === id)
  if (at < 0) return graph
  const { from, to } = wiresOf(graph)[at]!
  if (from.node === null) return { ...graph, inports: without(graph.inports, (port) => port === from.port) }
  if (to.node === null) return { ...graph, outports: without(graph.outports, (port) => port === to.port) }
  const edge = at - Object.keys(graph.inports).length
  return { ...graph, edges: graph.edges.filter((_, i) => i !== edge) }
}

export function spliced(
  graph: Graph,
  id: string,
  name: string,
  node: Node,
  [inport, outport]: [string, string],
): Graph {
  const wire = wiresOf(graph).find((one) => one.id === id)
  if (!wire) return graph
  const { from, to } = wire
  // Keeps the wire of a port of the flow, so that the port keeps its default.
  const open = from.node === null || to.node === null ? graph : withoutWire(graph, id)
  const begun = withWire(withNode(open, name, node), from, { node: name, port: inport })
  return withWire(begun, { node: name, port: outport }, to)
}

const linesIn = (record: object): string[] =>
  Object.entries(record).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)

export const linesOf = ({ nodes, edges, inports, outports, ...more }: Graph): string[] => [
  ...[more, nodes].flatMap(linesIn),
  ...edges.map((edge) => JSON.stringify(edge)),
  ...[inports, outports].flatMap(linesIn),
]

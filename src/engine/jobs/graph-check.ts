import { type Encoded, encodeValue } from '../../core/codec/value.ts'
import { SidejobError } from '../../core/errors.ts'
import { type Graph, readGraph } from '../../core/graph.ts'
import { namedPorts } from '../../core/wires.ts'
import type { PortSpecs } from '../engine.ts'
import type { Registry } from './registry.ts'

export async function checkPorts(
  registry: Pick<Registry, 'finder'>,
  graph: Graph,
  { before, at = [] }: { before?: Graph; at?: (string | number)[] } = {},
) {
  const named = namedPorts(graph, before)
  const find = await registry.finder(named.map(({ node }) => graph.nodes[node]!))
  for (const { node: name, dir, port, path: inside } of named) {
    const node = graph.nodes[name]!
    const found = find(node)
    const ports = { ...found?.definition[dir], ...(dir === 'in' ? node.inports : node.outports) }
    if (!found || Object.hasOwn(ports, port) || Object.hasOwn(ports, '*')) continue
    const has = Object.keys(ports).join(', ') || 'none'
    const path = [...at, ...inside]
    const message = `${path.join('.')}: node ${name} (${node.class}) has no ${dir}put port "${port}"; it has ${has}`
    throw new SidejobError('REFUSED', message, { path })
  }
}

type Made = { queue?: string; class: string; args?: Encoded; inputs?: Record<string, readonly Encoded[]> }

export const isFlow = ({ queue, class: name }: Made): boolean => queue === 'core' && name === 'flow'

/** Ignores a malformed graph, because the run of the flow reports it. */
function graphIn(text: Encoded): Graph | undefined {
  try {
    return readGraph(text)
  } catch {
    return undefined
  }
}

function graphsOf({ args, inputs }: Made): { text: Encoded; at: (string | number)[] }[] {
  const written = inputs?.__graph
  const last = written?.at(-1)
  if (last !== undefined) return [{ text: last, at: ['inputs', '__graph', written!.length - 1] }]
  if (!args?.includes('"graph"')) return []
  const { graph } = JSON.parse(args) as { graph?: unknown }
  return typeof graph === 'object' && graph !== null ? [{ text: encodeValue(graph), at: ['args', 'graph'] }] : []
}

export function flowPorts(made: Made): { in: PortSpecs; out: PortSpecs } | undefined {
  const [given] = isFlow(made) ? graphsOf(made) : []
  const graph = given && graphIn(given.text)
  const named = (ports: object): PortSpecs => Object.fromEntries(Object.keys(ports).map((port) => [port, {}]))
  return graph && { in: named(graph.inports), out: named(graph.outports) }
}

export async function checkFlows(registry: Pick<Registry, 'finder'>, made: readonly Made[]) {
  for (const one of made) {
    if (!isFlow(one)) continue
    for (const { text, at } of graphsOf(one)) {
      const graph = graphIn(text)
      if (graph) await checkPorts(registry, graph, { at })
    }
  }
}

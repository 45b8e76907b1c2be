import * as z from 'zod'
import { parseJson } from './codec/json.ts'
import { writeJson } from './codec/json-writer.ts'
import { type Encoded, encodedToJson } from './codec/value.ts'
import { check } from './issues.ts'
import { present } from './present.ts'
import { atMost } from './schemas/at-most.ts'
import {
  byPort,
  channelNames,
  childName,
  className,
  closed,
  closedIn,
  flowNode,
  flowRow,
  moment,
  places,
  portName,
  queueName,
  span,
  values,
  wireView,
} from './schemas.ts'

const NODES = 1_000
const EDGES = 10_000

const port = z.strictObject({
  default: closed.optional(),
  channels: channelNames.optional(),
  init: values.optional(),
})

const node = z.looseObject({
  queue: queueName.default('default'),
  class: className,
  args: closed.optional(),
  /** A number is the id of the job that becomes the node. `true` or a string starts the node without data. */
  init: z
    .union(
      [z.int().min(1), z.boolean(), z.string().max(1_000), z.null()],
      'expected true, false, null, a string or the id of a job',
    )
    .optional(),
  inports: byPort(port).optional(),
  outports: byPort(port).optional(),
})

const source = z.strictObject({ node: childName, outport: portName })
const target = z.strictObject({ node: childName, inport: portName })
const edge = z.strictObject({ from: source, to: target })

type Shape = {
  nodes: Record<string, unknown>
  edges: { from: { node: string }; to: { node: string } }[]
  inports: Record<string, { node: string }>
  outports: Record<string, { node: string }>
}

function checkEnds({ nodes, edges, inports, outports }: Shape, ctx: z.RefinementCtx): void {
  const check = (name: string, path: (string | number)[]) => {
    if (Object.hasOwn(nodes, name)) return
    const message = `the graph has no node ${JSON.stringify(name)}`
    ctx.addIssue({ code: 'custom', message, path: [...path, 'node'], input: name })
  }
  edges.forEach(({ from, to }, i) => {
    check(from.node, ['edges', i, 'from'])
    check(to.node, ['edges', i, 'to'])
  })
  for (const [name, { node }] of Object.entries(inports)) check(node, ['inports', name])
  for (const [name, { node }] of Object.entries(outports)) check(node, ['outports', name])
}

export const graph = z
  .strictObject({
    name: z.string().max(1_000).optional(),
    description: z.string().max(10_000).optional(),
    nodes: z
      .record(childName, node)
      .refine(...atMost(NODES, 'nodes'))
      .default({}),
    edges: z.array(edge).max(EDGES).default([]),
    inports: byPort(target.extend({ default: closed.optional() })).default({}),
    outports: byPort(source).default({}),
  })
  .superRefine(checkEnds)

export type Graph = z.output<typeof graph>
export type GraphNode = Graph['nodes'][string]
export type GraphPort = z.output<typeof port>

const inside = closedIn(graph)
const outside = places(graph)

/**
 * @throws an error that names the invalid node or port
 * @example readGraph('{"nodes":{"a":{}}}') // throws: nodes.a.class: is missing
 */
export const readGraph = (text: Encoded): Graph => check(graph, parseJson(encodedToJson(text), inside))

export const graphText = (graph: Graph): Encoded => writeJson(present(outside, graph)) as Encoded

export const flowView = z.object({
  flow: flowRow,
  hash: z.string().nullable().describe('hash of the current graph; send it as `If-Match` when you change the graph'),
  undo: z.int().describe('number of changes that can be undone'),
  record: span.nullable().describe('time to keep the events of the flow; null if the flow is not recorded'),
  graph: graph.nullable(),
  nodes: z.array(flowNode),
  wires: z.array(wireView),
})

export const graphVersion = z.object({
  hash: z.string(),
  at: moment.nullable().describe('time at which this graph became the current graph'),
  by: z.string().nullable().describe('API key that set this graph; null if the graph came through a port'),
  back: z.boolean().describe('true if an undo restored this graph'),
  nodes: z.int(),
  edges: z.int(),
  graph,
})

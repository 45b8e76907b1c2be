import type { Encoded } from '../../core/codec/value.ts'
import { hashOf } from '../../core/crypto.ts'
import { type Graph, readGraph } from '../../core/graph.ts'
import { earlierGraphs, type Graphs, versionsOf } from '../../core/graph-history.ts'
import { ended, type Status } from '../../core/job.ts'
import { parseMinutes, rateOf } from '../../core/minutes.ts'
import { ownProperty } from '../../core/own.ts'
import type { FlowFacts } from '../../core/plan.ts'
import { type End, type GraphWire, wiresOf } from '../../core/wires.ts'
import { itemOf, shownItem } from '../../redis/item.ts'
import { ops, type Words } from '../../redis/ops.ts'
import {
  aliasesOf,
  createdAtOf,
  defaultOf,
  type JobRecord,
  pastRunOf,
  portsOf,
  stateFieldOf,
  statusOf,
} from '../../redis/record.ts'
import type { Store } from '../../redis/store.ts'
import type { FlowState } from '../../redis/types.ts'
import { stateField, type Vault } from '../../redis/vault.ts'
import type { FlowNodeView, FlowRow, FlowView, WireView } from '../engine.ts'
import { wiringOf } from '../run/snapshot.ts'

export const graphsOf = ({ document }: FlowState): Graphs => ({
  graph: stateFieldOf(document, 'graph'),
  history: stateFieldOf(document, 'history'),
  versions: stateFieldOf(document, 'versions'),
})

export const expectGraph = (text: Encoded | undefined, vault: Vault): Words =>
  ops.was({ field: 'state:graph', values: vault.sealedAs(text, stateField('graph')) })

const [PAGE, NODES] = [20, 5_000]

type FlowQuery = { status: readonly Status[]; before?: string; limit?: number }

/** The page ends early if its flows have more than `NODES` nodes. */
export async function flowsOf(store: Store, { status, before, limit = PAGE }: FlowQuery) {
  const at = { mode: 'all', queue: 'core', class: 'flow', status: status.join(), before, limit } as const
  const { jobs, cursor } = await store.list(at)
  const ids = jobs.map(({ id }) => String(id))
  const found = ids.length > 0 ? await store.flows(ids, NODES) : []
  const later = found.indexOf('later')
  return {
    states: found.filter((state) => typeof state === 'object' && 'document' in state),
    cursor: later < 0 ? cursor : ids[later - 1]!,
  }
}

const graphHash = async (text: Encoded) => (await hashOf(text)).slice(0, 16)

const inputsOf = (doc: JobRecord) =>
  Object.fromEntries(
    portsOf(doc, 'i')
      .filter(({ port }) => port !== '__graph')
      .map(({ port, pushed, taken }) => [
        port,
        { size: pushed - taken, default: defaultOf(doc, 'i', port) !== undefined },
      ]),
  )

export const flowFactsOf = ({ id, children, document, ports }: FlowState): FlowFacts => ({
  id,
  children,
  inputs: inputsOf(document),
  jobs: {},
  wires: ports.map(wiringOf).filter(({ child, dir, to }) => child !== undefined || (dir === 'in' && to.length > 0)),
})

const portAt = ({ ports }: FlowState, { node, port }: End, dir: 'i' | 'o') =>
  ports.find((one) => one.child === (node ?? '') && one.side === dir && one.port === port)

type FlowPort = ReturnType<typeof portAt>

export const sourcePort = (state: FlowState, { from }: GraphWire) => portAt(state, from, from.node === null ? 'i' : 'o')
const targetPort = (state: FlowState, { to }: GraphWire) => portAt(state, to, to.node === null ? 'o' : 'i')

const sizeOf = (port: FlowPort): number => port?.size ?? 0

export function wireView(state: FlowState, wire: GraphWire): WireView {
  const { id, from, to } = wire
  const [source, target] = [sourcePort(state, wire), targetPort(state, wire)]
  const oldest = target?.oldest ?? source?.oldest
  const read = parseMinutes(target?.left, state.now)
  return {
    id,
    from,
    to,
    laid: /\d/.test(source?.wires ?? ''),
    size: sizeOf(target),
    behind: sizeOf(source),
    oldest: oldest ? shownItem(oldest) : null,
    oldestAt: oldest ? (itemOf(oldest).at ?? null) : null,
    passed: (source?.passed ?? []).map((item) => ({ data: shownItem(item).data, at: itemOf(item).at ?? null })),
    rate: rateOf(read, state.now),
    in: parseMinutes(source?.left, state.now),
    out: read,
  }
}

export const wireViews = (state: FlowState, graph: Graph): WireView[] =>
  wiresOf(graph).map((one) => wireView(state, one))

/** A running child may still be `queued` in the list of children, so a child with a lease counts as running. */
function statusOfNode({ children, nodes }: FlowState, name: string): Status | null {
  const status = ownProperty(children, name)?.status ?? null
  return status === 'queued' && nodes.get(name)?.leaseUntil ? 'running' : status
}

function nodeView(state: FlowState, graph: Graph, name: string): FlowNodeView {
  const { children, nodes } = state
  const { queue, class: className } = graph.nodes[name]!
  const seen = nodes.get(name)
  return {
    name,
    queue,
    class: className,
    job: ownProperty(children, name)?.id ?? null,
    status: statusOfNode(state, name),
    ranAt: seen?.ranAt ?? null,
    lastRun: seen?.lastRun ? pastRunOf(seen.lastRun) : null,
    limit: seen?.limit ?? null,
    leaseUntil: seen?.leaseUntil ?? null,
    until: seen?.until ?? null,
  }
}

function waiting(state: FlowState, wires: readonly GraphWire[]) {
  const ports = new Set(wires.flatMap((wire) => [sourcePort(state, wire), targetPort(state, wire)]))
  const moments = [...ports].flatMap((port) => (port?.oldest ? (itemOf(port.oldest).at ?? []) : []))
  return {
    values: [...ports].reduce((sum, port) => sum + sizeOf(port), 0),
    oldestAt: moments.length > 0 ? Math.min(...moments) : null,
  }
}

export function flowRow(state: FlowState, graph = graphIn(state)): FlowRow {
  const { id, document, children } = state
  const wires = graph ? wiresOf(graph) : []
  const aliases = aliasesOf(document)
  const version = versionsOf(graphsOf(state)).at(-1)
  const statuses = Object.keys(children).map((name) => statusOfNode(state, name))
  const nodesThatAre = (wanted: Status) => statuses.filter((status) => status === wanted).length
  return {
    id,
    aliases,
    name: graph?.name ?? aliases[0] ?? document.childName ?? document.class,
    status: statusOf(document),
    createdAt: createdAtOf(document),
    nodes: graph ? Object.keys(graph.nodes).length : Object.keys(children).length,
    active: Object.values(children).filter(({ status }) => !ended.has(status)).length,
    running: nodesThatAre('running'),
    queued: nodesThatAre('queued'),
    failed: nodesThatAre('failed'),
    wires: wires.length,
    ...waiting(state, wires),
    changedAt: version?.at ?? null,
    changedBy: version?.by ?? null,
  }
}

export const graphIn = (state: FlowState): Graph | undefined => {
  const text = graphsOf(state).graph
  return text === undefined ? undefined : readGraph(text)
}

export async function graphHashOf(state: FlowState) {
  const { graph } = graphsOf(state)
  return graph === undefined ? null : graphHash(graph)
}

export async function flowView(state: FlowState): Promise<FlowView> {
  const graph = graphIn(state)
  return {
    flow: flowRow(state, graph),
    hash: await graphHashOf(state),
    undo: earlierGraphs(graphsOf(state)).length,
    record: state.document.recorded ?? null,
    graph: graph ?? null,
    nodes: graph ? Object.keys(graph.nodes).map((name) => nodeView(state, graph, name)) : [],
    wires: graph ? wireViews(state, graph) : [],
  }
}

export async function versionViews(state: FlowState) {
  const graphs = graphsOf(state)
  if (graphs.graph === undefined) return []
  const texts = [...earlierGraphs(graphs), graphs.graph]
  const versions = versionsOf(graphs)
  const views = texts.map(async (text, i) => {
    const graph = readGraph(text)
    const { at = null, by = null, back = false } = versions[i] ?? {}
    const [nodes, edges] = [Object.keys(graph.nodes).length, wiresOf(graph).length]
    return { hash: await graphHash(text), at, by, back, nodes, edges, graph }
  })
  return (await Promise.all(views)).reverse()
}

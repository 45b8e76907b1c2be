import { decodeValue, type Encoded } from './codec/value.ts'
import { SidejobError } from './errors.ts'
import type { Graph, GraphNode, GraphPort } from './graph.ts'
import type { Status } from './job.ts'
import { mapValues } from './map-values.ts'
import { ownProperty } from './own.ts'
import type { Op, PortOptions, PortRef, Wiring } from './run.ts'
import type { GraphChange } from './schemas.ts'
import { type End, endText, type GraphWire, wiresOf } from './wires.ts'

export type FlowFacts = {
  id: number
  children: Record<string, { id: number; class: string; status: Status }>
  inputs: Record<string, { size: number; default: boolean }>
  wires: Wiring[]
  jobs: Record<number, Adoptable | null>
}

export type Adoptable = {
  queue: string
  class: string
  args: Encoded | null
  parent: number | null
  error?: Encoded | null
}

type Orphan = GraphChange['orphaned'][number]

export type Plan = ReturnType<typeof planGraph>

const specsOf = (ports: Record<string, GraphPort> = {}): PortOptions => mapValues(ports, ({ init: _, ...spec }) => spec)

const initsOf = (ports: Record<string, GraphPort> = {}): Record<string, Encoded[]> =>
  Object.fromEntries(Object.entries(ports).flatMap(([name, { init }]) => (init ? [[name, init]] : [])))

export function spawnOf(graph: Graph, name: string, inputs: Record<string, Encoded[]> = {}): Op {
  const { queue, class: className, args, inports, outports } = graph.nodes[name]!
  return {
    op: 'spawn',
    name,
    queue,
    class: className,
    args,
    inports: inports && specsOf(inports),
    outports: outports && specsOf(outports),
    inputs: Object.keys(inputs).length > 0 ? inputs : undefined,
  }
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

const isOther = (node: GraphNode, was: GraphNode): boolean =>
  node.class !== was.class || node.queue !== was.queue || node.args !== was.args

function changed(ports: GraphNode['inports'], was: GraphNode['inports']): PortOptions | undefined {
  const [now, before] = [specsOf(ports), specsOf(was)]
  const wanted = Object.keys({ ...before, ...now }).filter((name) => {
    const spec = ownProperty(before, name)
    return !spec || !isSame(now[name] ?? {}, spec)
  })
  return wanted.length ? Object.fromEntries(wanted.map((name) => [name, now[name] ?? {}])) : undefined
}

const refused = (message: string, path: (string | number)[]) =>
  new SidejobError('REFUSED', `${path.join('.')}: ${message}`, { path })

function checkAdoption(name: string, node: GraphNode, facts: FlowFacts): void {
  const id = node.init as number
  const path = ['nodes', name, 'init']
  const child = ownProperty(facts.children, name)
  if (child) throw refused(`node ${name} has already started as job ${child.id}`, path)
  const job = facts.jobs[id]
  if (!job) throw refused(`job ${id} does not exist`, path)
  if (job.parent !== null) throw refused(`job ${id} already has a parent (job ${job.parent})`, path)
  for (const [part, is, wanted] of [
    ['queue', job.queue, node.queue],
    ['class', job.class, node.class],
    ['args', decodeValue(job.args ?? 'null'), decodeValue(node.args ?? 'null')],
  ] as const)
    if (!isSame(is, wanted))
      throw refused(
        `expected a job with ${part} ${JSON.stringify(wanted)}, got job ${id} with ${part} ${JSON.stringify(is)}`,
        path,
      )
}

export const adoptions = (graph: Graph, before?: Graph) =>
  Object.entries(graph.nodes)
    .filter(([name, { init }]) => typeof init === 'number' && ownProperty(before?.nodes ?? {}, name)?.init !== init)
    .map(([node, { init }]) => ({ node, job: init as number }))

export function compare(graph: Graph, before: Graph | undefined, facts: FlowFacts) {
  const wasNode = (name: string) => ownProperty(before?.nodes ?? {}, name)
  const isReplaced = (name: string): boolean => {
    const [node, was] = [ownProperty(graph.nodes, name), wasNode(name)]
    return node !== undefined && was !== undefined && isOther(node, was)
  }
  const wires = wiresOf(graph)
  const children = Object.entries(facts.children).map(([node, { id }]) => ({ node, job: id }))
  const removedNodes = children.filter(({ node }) => !ownProperty(graph.nodes, node))
  const replaced = children.filter(({ node }) => isReplaced(node))
  const adopted = adoptions(graph, before)
  const kept = children.filter(({ node }) => ownProperty(graph.nodes, node) && !isReplaced(node))
  return {
    graph,
    before,
    facts,
    wasNode,
    isReplaced,
    removedNodes,
    replaced,
    adopted,
    running: new Set([...kept, ...adopted].map(({ node }) => node)),
    wires,
    sources: [...Map.groupBy(wires, ({ from }) => endText(from)).values()],
    rowsOf: (name: string) => facts.wires.filter(({ child }) => child === name),
    rowOf: (child: string | undefined, dir: 'in' | 'out', port: string) =>
      facts.wires.find((row) => row.child === child && row.dir === dir && row.port === port),
    given(side: 'inports' | 'outports', name: string): Record<string, Encoded[]> {
      const was = isReplaced(name) ? {} : initsOf(wasNode(name)?.[side])
      return Object.fromEntries(
        Object.entries(initsOf(graph.nodes[name]![side])).filter(([port]) => !ownProperty(was, port)),
      )
    },
  }
}

type Comparison = ReturnType<typeof compare>

const wantsStart = (init: GraphNode['init']): boolean =>
  init !== undefined && init !== null && init !== false && typeof init !== 'number'

function hasData({ graph, facts, running, rowOf, given }: Comparison, { node, port }: End): boolean {
  if (node === null) {
    const input = ownProperty(facts.inputs, port)
    return (input?.size ?? 0) > 0 || input?.default === true || graph.inports[port]!.default !== undefined
  }
  if (given('outports', node)[port]?.length) return true
  if (!running.has(node)) return ownProperty(graph.nodes[node]!.outports ?? {}, port)?.default !== undefined
  const row = rowOf(node, 'out', port)
  return row !== undefined && (row.size > 0 || row.default)
}

function startsOf(seen: Comparison): Set<string> {
  const { graph, wasNode, running, replaced, sources, given } = seen
  const start = new Set(replaced.map(({ node }) => node))
  const begin = (name: string) => {
    if (!running.has(name)) start.add(name)
  }
  for (const [name, { init }] of Object.entries(graph.nodes)) {
    const asks = wantsStart(init) && !wantsStart(wasNode(name)?.init)
    if (asks || [given('inports', name), given('outports', name)].some((ports) => Object.keys(ports).length))
      begin(name)
  }
  // Data on a wire starts the target node. The defaults at the outputs of a started node may start more nodes.
  for (let before = -1; before !== start.size; ) {
    before = start.size
    for (const wires of sources) {
      const { from } = wires[0]!
      const isUp = from.node === null || running.has(from.node) || start.has(from.node)
      if (isUp && hasData(seen, from)) for (const { to } of wires) if (to.node !== null) begin(to.node)
    }
  }
  return start
}

const defaultsOf = (inports: Graph['inports']): Record<string, GraphPort> =>
  mapValues(inports, ({ default: value }) => (value === undefined ? {} : { default: value }))

function ownAmends({ graph, before, facts }: Comparison): Op[] {
  const was = Object.entries(defaultsOf(before?.inports ?? {})).filter(([port]) => ownProperty(graph.inports, port))
  const ports = Object.entries(changed(defaultsOf(graph.inports), Object.fromEntries(was)) ?? {}).filter(
    ([port, spec]) => 'default' in spec || !ownProperty(facts.inputs, port),
  )
  return ports.length ? [{ op: 'amend', in: Object.fromEntries(ports) }] : []
}

const amendsOf = (seen: Comparison): Op[] => [
  ...[...seen.running].flatMap((name): Op[] => {
    const was = ownProperty(seen.facts.children, name) && seen.wasNode(name)
    const ins = changed(seen.graph.nodes[name]!.inports, was?.inports)
    const outs = changed(seen.graph.nodes[name]!.outports, was?.outports)
    return ins || outs ? [{ op: 'amend', of: { child: name }, in: ins, out: outs }] : []
  }),
  ...ownAmends(seen),
]

const isMoved = ({ wires, isReplaced }: Comparison, name: string, { dir, port }: Wiring): boolean =>
  isReplaced(name) && dir === 'in' && wires.some(({ to }) => to.node === name && to.port === port)

const movesOf = (seen: Comparison): Op[] =>
  seen.replaced.flatMap(({ node, job }) =>
    seen
      .rowsOf(node)
      .filter((row) => row.size > 0 && isMoved(seen, node, row))
      .map(({ port }): Op => ({ op: 'connect', from: { job, in: port }, to: [{ child: node, in: port }] })),
  )

export const sourceRef = ({ node, port }: End): PortRef => (node === null ? { in: port } : { child: node, out: port })
export const targetRef = ({ node, port }: End): PortRef => (node === null ? { out: port } : { child: node, in: port })

const isWired = ({ facts, running }: Comparison, to: Wiring['to'], wires: GraphWire[]): boolean =>
  to !== 'call' &&
  to.length === wires.length &&
  wires.every(({ to: { node, port } }, i) => {
    const job = node === null ? facts.id : running.has(node) ? facts.children[node]?.id : undefined
    return to[i]!.job === job && to[i]!.port === port && to[i]!.dir === (node === null ? 'out' : 'in')
  })

function wireOpsAt(seen: Comparison, start: Set<string>, wires: GraphWire[]): Op[] {
  const { from } = wires[0]!
  const isUp = (node: string | null) => node === null || seen.running.has(node) || start.has(node)
  if (!isUp(from.node)) return []
  const isOld = from.node === null || seen.running.has(from.node)
  const row = isOld ? seen.rowOf(from.node ?? undefined, from.node === null ? 'in' : 'out', from.port) : undefined
  if (wires.every(({ to }) => isUp(to.node))) {
    if (row && row.size === 0 && isWired(seen, row.to, wires)) return []
    return [{ op: 'wire', from: sourceRef(from), to: wires.map(({ to }) => targetRef(to)) }]
  }
  if (from.node === null) return row?.to.length ? [{ op: 'wire', from: sourceRef(from), to: [] }] : []
  return row?.to === 'call' ? [] : [{ op: 'wire', from: sourceRef(from), call: true }]
}

const looseIn = ({ facts, running, wires }: Comparison): Wiring[] =>
  facts.wires.filter(
    ({ child, dir, port, to }) =>
      to.length > 0 &&
      dir === (child === undefined ? 'in' : 'out') &&
      (child === undefined || running.has(child)) &&
      !wires.some(({ from }) => from.node === (child ?? null) && from.port === port),
  )

export const wireOps = (seen: Comparison, start: Set<string>): Op[] => [
  ...seen.sources.flatMap((wires) => wireOpsAt(seen, start, wires)),
  ...looseIn(seen).map(
    ({ child, port }): Op => ({ op: 'wire', from: sourceRef({ node: child ?? null, port }), to: [] }),
  ),
]

function writesOf({ graph, given }: Comparison, start: Set<string>): Op[] {
  const write = (to: PortRef, values: Encoded[]): Op[] => (values.length ? [{ op: 'write', to, values }] : [])
  return Object.keys(graph.nodes).flatMap((child) => [
    ...(start.has(child)
      ? []
      : Object.entries(given('inports', child)).flatMap(([port, values]) => write({ child, in: port }, values))),
    ...Object.entries(given('outports', child)).flatMap(([port, values]) => write({ child, out: port }, values)),
  ])
}

function orphansOf(seen: Comparison): Orphan[] {
  const { removedNodes, replaced, facts, rowsOf } = seen
  const orphan = (node: string | null, job: number, { dir, port, size }: Wiring): Orphan[] =>
    size > 0 ? [{ node, job, dir, port, values: size }] : []
  return [
    ...[...removedNodes, ...replaced].flatMap(({ node, job }) =>
      rowsOf(node).flatMap((row) => (isMoved(seen, node, row) ? [] : orphan(node, job, row))),
    ),
    ...looseIn(seen).flatMap((row) =>
      row.child === undefined ? orphan(null, facts.id, row) : orphan(row.child, facts.children[row.child]!.id, row),
    ),
  ]
}

/**
 * A node keeps its job, values and defaults while its class, queue and args stay the same. Initial values are sent only
 * once.
 */
export function planGraph(graph: Graph, before: Graph | undefined, facts: FlowFacts) {
  const seen = compare(graph, before, facts)
  const { removedNodes, replaced, adopted } = seen
  for (const { node } of adopted) checkAdoption(node, graph.nodes[node]!, facts)
  const start = startsOf(seen)
  const leave = [...removedNodes, ...replaced]
  const is = seen.wires.map(({ id }) => id)
  const was = before ? wiresOf(before).map(({ id }) => id) : []
  return {
    ops: [
      ...leave.map(({ node }): Op => ({ op: 'disown', child: node })),
      ...adopted.map(({ node, job }): Op => ({ op: 'adopt', job, name: node })),
      ...[...start].map((name) => spawnOf(graph, name, seen.given('inports', name))),
      ...amendsOf(seen),
      ...movesOf(seen),
      ...wireOps(seen, start),
      ...writesOf(seen, start),
      ...leave
        .filter(({ node }) => seen.wasNode(node))
        .map(({ job }): Op => ({ op: 'terminate', job, recursive: true })),
    ],
    start: [...start].filter((name) => !seen.isReplaced(name)),
    adopt: adopted.map(({ node }) => node),
    stop: removedNodes,
    replace: replaced,
    wires: { added: is.filter((id) => !was.includes(id)), removed: was.filter((id) => !is.includes(id)) },
    orphaned: orphansOf(seen),
  }
}

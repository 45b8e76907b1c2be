// What has to be done so that a flow is as its graph says: which jobs to start, stop and adopt, which wires to lay.

import { SidejobError } from './errors.ts'
import type { Graph, GraphNode, GraphPort } from './graph.ts'
import type { Status } from './job.ts'
import type { Op, PortOptions, PortRef, Wiring } from './run.ts'
import { unwire, type Wire } from './value.ts'

/** A flow as it is. */
export type FlowFacts = {
  id: number
  children: Record<string, { id: number; class: string; status: Status }>
  /** Its own inputs: how many values wait, and whether there is a default. */
  inputs: Record<string, { size: number; default: boolean }>
  /** The ports of its children with wires, values or a default, and its own inputs with wires. */
  wires: Wiring[]
  /** The jobs that a graph asks to adopt; null where there is none. */
  jobs: Record<number, Adoptable | null>
}

/** A job that may become a node. */
export type Adoptable = { queue: string; class: string; args: Wire | null; parent: number | null }

export type Orphan = { node: string | null; job: number; dir: 'in' | 'out'; port: string; values: number }

export type Plan = {
  ops: Op[]
  start: string[]
  adopt: string[]
  stop: { node: string; job: number }[]
  /** Nodes of another class, queue or arguments: a new job takes the place of the old one, and gets what waited for it. */
  replace: { node: string; job: number }[]
  wires: { added: string[]; removed: string[] }
  /** Values that nobody will read any more: they stay in the ports of jobs that were let go, or of the flow. */
  orphaned: Orphan[]
}

/** One end of a wire: a node's port, or the flow's own. */
export type End = { node: string | null; port: string }
export type GraphWire = { id: string; from: End; to: End }

const endText = ({ node, port }: End): string => (node === null ? port : `${node}.${port}`)

/**
 * The wires of a graph in the order in which they deliver, each with a name: `sum.out>double.in`.
 *
 * @example wiresOf(graph).map(({ id }) => id) // ['x>sum.in', 'sum.out>double.in', 'double.out>y']
 */
export function wiresOf({ edges, inports, outports }: Graph): GraphWire[] {
  const ends: [End, End][] = [
    ...Object.entries(inports).map(([port, to]): [End, End] => [
      { node: null, port },
      { node: to.node, port: to.inport },
    ]),
    ...edges.map(({ from, to }): [End, End] => [
      { node: from.node, port: from.outport },
      { node: to.node, port: to.inport },
    ]),
    ...Object.entries(outports).map(([port, from]): [End, End] => [
      { node: from.node, port: from.outport },
      { node: null, port },
    ]),
  ]
  const times = new Map<string, number>()
  return ends.map(([from, to]) => {
    const name = `${endText(from)}>${endText(to)}`
    const n = (times.get(name) ?? 0) + 1
    times.set(name, n)
    return { id: n === 1 ? name : `${name}#${n}`, from, to }
  })
}

const own = <T>(record: Record<string, T>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined

const specsOf = (ports: Record<string, GraphPort> = {}): PortOptions =>
  Object.fromEntries(Object.entries(ports).map(([name, { init: _, ...spec }]) => [name, spec]))

const initsOf = (ports: Record<string, GraphPort> = {}): Record<string, Wire[]> =>
  Object.fromEntries(Object.entries(ports).flatMap(([name, { init }]) => (init ? [[name, init]] : [])))

/** The op that makes a node's job. */
export function spawnOf(graph: Graph, name: string, inputs: Record<string, Wire[]> = {}): Op {
  const { queue, class: className, args, inports, outports } = graph.nodes[name]!
  return {
    ...{ op: 'spawn', name, queue, class: className },
    ...(args === undefined ? {} : { args }),
    ...(inports ? { inports: specsOf(inports) } : {}),
    ...(outports ? { outports: specsOf(outports) } : {}),
    ...(Object.keys(inputs).length ? { inputs } : {}),
  }
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

const isOther = (node: GraphNode, was: GraphNode): boolean =>
  node.class !== was.class || node.queue !== was.queue || node.args !== was.args

/** Of the ports' specs those that are not as they were; what is not listed any more has none. */
function changed(ports: GraphNode['inports'], was: GraphNode['inports']): PortOptions | undefined {
  const [now, before] = [specsOf(ports), specsOf(was)]
  const names = Object.keys({ ...before, ...now }).filter((name) => !isSame(now[name] ?? {}, own(before, name) ?? {}))
  const added = Object.keys(now).filter((name) => !own(before, name))
  const wanted = [...new Set([...names, ...added])]
  return wanted.length ? Object.fromEntries(wanted.map((name) => [name, now[name] ?? {}])) : undefined
}

const refused = (message: string, path: (string | number)[]) =>
  new SidejobError('REFUSED', `${path.join('.')}: ${message}`, { path })

/** Whether the job that a node asks for is there, is like the node, and is nobody's yet. */
function checkAdoption(name: string, node: GraphNode, facts: FlowFacts): void {
  const id = node.init as number
  const path = ['nodes', name, 'init']
  const child = own(facts.children, name)
  if (child) throw refused(`node ${name} is started already, as job ${child.id}`, path)
  const job = facts.jobs[id]
  if (!job) throw refused(`job ${id} does not exist`, path)
  if (job.parent !== null) throw refused(`job ${id} already has a parent (job ${job.parent})`, path)
  for (const [part, is, wanted] of [
    ['queue', job.queue, node.queue],
    ['class', job.class, node.class],
    ['args', unwire(job.args ?? 'null'), unwire(node.args ?? 'null')],
  ] as const)
    if (!isSame(is, wanted))
      throw refused(
        `the ${part} of job ${id} is ${JSON.stringify(is)}, that of the node ${JSON.stringify(wanted)}`,
        path,
      )
}

/** The jobs that a graph newly asks to adopt. */
export const adoptions = (graph: Graph, before?: Graph): { node: string; job: number }[] =>
  Object.entries(graph.nodes)
    .filter(([name, { init }]) => typeof init === 'number' && own(before?.nodes ?? {}, name)?.init !== init)
    .map(([node, { init }]) => ({ node, job: init as number }))

/**
 * Works out what makes a flow as its graph says. A node keeps its job, its values and what its defaults have become as long
 * as its class, queue and arguments stay; what a graph gives at its beginning (`init`) is given once.
 *
 * @example planGraph(graph, before, facts).ops
 */
export function planGraph(graph: Graph, before: Graph | undefined, facts: FlowFacts): Plan {
  const wasNode = (name: string) => own(before?.nodes ?? {}, name)
  const children = Object.entries(facts.children)
  const isReplaced = (name: string): boolean => {
    const [node, was] = [own(graph.nodes, name), wasNode(name)]
    return node !== undefined && was !== undefined && isOther(node, was)
  }
  const gone = children.filter(([name]) => !own(graph.nodes, name))
  const replaced = children.filter(([name]) => isReplaced(name))
  const kept = children.filter(([name]) => own(graph.nodes, name) && !isReplaced(name)).map(([name]) => name)

  const adopted = adoptions(graph, before)
  for (const { node } of adopted) checkAdoption(node, graph.nodes[node]!, facts)

  const rowsOf = (name: string) => facts.wires.filter(({ child }) => child === name)
  const row = (child: string | undefined, dir: 'in' | 'out', port: string) =>
    facts.wires.find((one) => one.child === child && one.dir === dir && one.port === port)

  /** First values of ports that had none in the graph before. */
  const given = (side: 'inports' | 'outports', name: string): Record<string, Wire[]> => {
    const was = initsOf(wasNode(name)?.[side])
    return Object.fromEntries(
      Object.entries(initsOf(graph.nodes[name]![side])).filter(([port]) => !was[port] || isReplaced(name)),
    )
  }

  const running = new Set([...kept, ...adopted.map(({ node }) => node)])
  const start = new Set<string>(replaced.map(([name]) => name))
  const isUp = (name: string) => running.has(name) || start.has(name)
  const begin = (name: string) => {
    if (!isUp(name)) start.add(name)
  }

  for (const [name, { init }] of Object.entries(graph.nodes)) {
    const wants = init !== undefined && init !== null && init !== false && typeof init !== 'number'
    const wanted = wasNode(name)?.init
    const isNew = wanted === undefined || wanted === null || wanted === false
    if (wants && isNew) begin(name)
    if (Object.keys(given('inports', name)).length || Object.keys(given('outports', name)).length) begin(name)
  }

  const wires = wiresOf(graph)
  const sources = Map.groupBy(wires, ({ from }) => endText(from))
  const hasData = ({ node, port }: End): boolean => {
    if (node === null) {
      const input = own(facts.inputs, port)
      return (input?.size ?? 0) > 0 || input?.default === true || graph.inports[port]!.default !== undefined
    }
    const spec = own(graph.nodes[node]!.outports ?? {}, port)
    if (start.has(node)) return spec?.default !== undefined || (spec?.init?.length ?? 0) > 0
    const seen = running.has(node) ? row(node, 'out', port) : undefined
    return (seen?.size ?? 0) > 0 || seen?.default === true || (given('outports', node)[port]?.length ?? 0) > 0
  }
  // What has data starts its targets, whose defaults may start theirs.
  for (let n = -1; n !== start.size; ) {
    n = start.size
    for (const [{ from }] of sources.values() as Iterable<[GraphWire]>)
      if ((from.node === null || isUp(from.node)) && hasData(from))
        for (const { to } of sources.get(endText(from))!) if (to.node !== null) begin(to.node)
  }

  const disowns = [...gone, ...replaced].map(([child]): Op => ({ op: 'disown', child }))
  const adopts = adopted.map(({ node, job }): Op => ({ op: 'adopt', job, name: node }))
  const spawns = [...start].map((name) => spawnOf(graph, name, given('inports', name)))

  const amends: Op[] = []
  for (const name of running) {
    const was = facts.children[name] ? wasNode(name) : undefined
    const ins = changed(graph.nodes[name]!.inports, was?.inports)
    const outs = changed(graph.nodes[name]!.outports, was?.outports)
    if (ins || outs)
      amends.push({ op: 'amend', of: { child: name }, ...(ins ? { in: ins } : {}), ...(outs ? { out: outs } : {}) })
  }
  const ownPorts = changed(
    Object.fromEntries(
      Object.entries(graph.inports).map(([port, { default: value }]) => [
        port,
        value === undefined ? {} : { default: value },
      ]),
    ),
    before &&
      Object.fromEntries(
        Object.entries(before.inports)
          .filter(([port]) => own(graph.inports, port))
          .map(([port, { default: value }]) => [port, value === undefined ? {} : { default: value }]),
      ),
  )
  // A default that the flow has been made with stays where the graph says nothing.
  const amendable = Object.entries(ownPorts ?? {}).filter(
    ([port, spec]) => 'default' in spec || !own(facts.inputs, port),
  )
  if (amendable.length) amends.push({ op: 'amend', in: Object.fromEntries(amendable) })

  // What waits for a job that is replaced goes to the new one.
  const targets = new Set(wires.map(({ to }) => endText(to)))
  const isMoved = (name: string, { dir, port }: Wiring) =>
    isReplaced(name) && dir === 'in' && targets.has(endText({ node: name, port }))
  const moves = replaced.flatMap(([name, { id }]) =>
    rowsOf(name)
      .filter((one) => one.size > 0 && isMoved(name, one))
      .map(({ port }): Op => ({ op: 'connect', from: { job: id, in: port }, to: [{ child: name, in: port }] })),
  )

  const refOf = ({ node, port }: End, dir: 'in' | 'out'): PortRef => {
    const side = dir === 'in' ? { in: port } : { out: port }
    return node === null ? side : { child: node, ...side }
  }
  const isLaid = (is: Wiring['to'], ends: GraphWire[]): boolean =>
    is !== 'call' &&
    is.length === ends.length &&
    ends.every(({ to }, i) => {
      const job = to.node === null ? facts.id : running.has(to.node) ? facts.children[to.node]?.id : undefined
      return is[i]!.job === job && is[i]!.port === to.port && is[i]!.dir === (to.node === null ? 'out' : 'in')
    })
  const lays: Op[] = []
  for (const ends of sources.values()) {
    const { from } = ends[0]!
    if (from.node !== null && !isUp(from.node)) continue
    const dir = from.node === null ? 'in' : 'out'
    const seen = from.node !== null && !running.has(from.node) ? undefined : row(from.node ?? undefined, dir, from.port)
    if (ends.every(({ to }) => to.node === null || isUp(to.node))) {
      if (!seen || seen.size > 0 || !isLaid(seen.to, ends))
        lays.push({
          op: 'wire',
          from: refOf(from, dir),
          to: ends.map(({ to }) => refOf(to, to.node === null ? 'out' : 'in')),
        })
    } else if (from.node !== null && seen?.to !== 'call') {
      lays.push({ op: 'wire', from: refOf(from, dir), call: true })
    } else if (from.node === null && seen && seen.to.length > 0) {
      lays.push({ op: 'wire', from: refOf(from, dir), to: [] })
    }
  }
  const loose = facts.wires.filter(
    ({ child, dir, port, to }) =>
      to.length > 0 &&
      dir === (child === undefined ? 'in' : 'out') &&
      (child === undefined || running.has(child)) &&
      !sources.has(endText({ node: child ?? null, port })),
  )
  for (const { child, dir, port } of loose)
    lays.push({ op: 'wire', from: refOf({ node: child ?? null, port }, dir), to: [] })

  const writes: Op[] = []
  for (const name of Object.keys(graph.nodes)) {
    if (!start.has(name))
      for (const [port, values] of Object.entries(given('inports', name)))
        if (values.length) writes.push({ op: 'write', to: { child: name, in: port }, values })
    for (const [port, values] of Object.entries(given('outports', name)))
      if (values.length) writes.push({ op: 'write', to: { child: name, out: port }, values })
  }
  // What others have put below the flow is let go, not ended.
  const ours = [...gone, ...replaced].filter(([name]) => wasNode(name))
  const ends = ours.map(([, { id }]): Op => ({ op: 'terminate', job: id, recursive: true }))

  const [is, was] = [wires.map(({ id }) => id), before ? wiresOf(before).map(({ id }) => id) : []]
  const left = [...gone, ...replaced].flatMap(([name, { id }]) =>
    rowsOf(name)
      .filter((one) => one.size > 0 && !isMoved(name, one))
      .map(({ dir, port, size }): Orphan => ({ node: name, job: id, dir, port, values: size })),
  )
  const unwired = loose
    .filter(({ size }) => size > 0)
    .map(({ child, dir, port, size }): Orphan => {
      const job = child === undefined ? facts.id : facts.children[child]!.id
      return { node: child ?? null, job, dir, port, values: size }
    })
  return {
    ops: [...disowns, ...adopts, ...spawns, ...amends, ...moves, ...lays, ...writes, ...ends],
    start: [...start].filter((name) => !isReplaced(name)),
    adopt: adopted.map(({ node }) => node),
    stop: gone.map(([node, { id }]) => ({ node, job: id })),
    replace: replaced.map(([node, { id }]) => ({ node, job: id })),
    wires: { added: is.filter((id) => !was.includes(id)), removed: was.filter((id) => !is.includes(id)) },
    orphaned: [...left, ...unwired],
  }
}

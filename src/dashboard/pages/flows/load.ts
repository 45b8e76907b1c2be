import type { FlowView, Item, JobView, LimitView, PortView, Why } from '../../../engine/engine.ts'
import type { Engine } from '../../../engine/index.ts'
import type { Asked } from '../../page.ts'
import { jamOf, type LimitRoom } from '../../words/flow.ts'
import { messageOf } from '../../words/job.ts'
import { readDeploys } from '../jobs/kinds.tsx'

/** Maximum number of values to read from a wire, and of failed nodes to read. */
const [VALUES, FAILED] = [5, 100]

export type Chosen =
  | { kind: 'node'; node: FlowView['nodes'][number] }
  | { kind: 'wire'; wire: FlowView['wires'][number]; target: FlowView['nodes'][number] | undefined }

function chosenIn(query: URLSearchParams, { nodes, wires }: FlowView): Chosen | undefined {
  const node = nodes.find(({ name }) => name === query.get('node'))
  if (node) return { kind: 'node', node }
  const wire = wires.find(({ id }) => id === query.get('wire'))
  return wire && { kind: 'wire', wire, target: nodes.find(({ name }) => name === wire.to.node) }
}

export type Near = {
  job?: JobView
  why?: Why
  port?: PortView & { values: Item[] }
}

export type FlowData = Awaited<ReturnType<typeof load>>

const none = () => undefined

async function nearNode(engine: Engine, id: number | null): Promise<Near> {
  if (id === null) return {}
  const [job, why] = await Promise.all([
    engine.jobs.get(String(id), { schemas: true }).catch(none),
    engine.jobs.why(String(id)).catch(none),
  ])
  return { job, why }
}

async function nearWire(
  engine: Engine,
  flow: number,
  { wire, target }: Extract<Chosen, { kind: 'wire' }>,
): Promise<Near> {
  const [at, dir] = target ? [target.job, 'in' as const] : [flow, 'out' as const]
  if (at === null) return {}
  const [port, near] = await Promise.all([
    engine.ports.get(String(at), dir, wire.to.port, VALUES).catch(none),
    target ? nearNode(engine, at) : {},
  ])
  return { ...near, port }
}

async function errorsOf(engine: Engine, { flow }: FlowView): Promise<Map<number, string>> {
  if (flow.failed === 0) return new Map()
  const { jobs } = await engine.jobs.list({ parent: String(flow.id), status: 'failed', limit: FAILED })
  return new Map(jobs.flatMap(({ id, error }) => (error === null ? [] : [[id, messageOf(error)]])))
}

export function roomsOf({ nodes }: FlowView, limits: readonly LimitView[]): Record<string, LimitRoom> {
  const wanted = new Set(nodes.map(({ limit }) => limit))
  const rooms = limits.map(({ key, running, concurrency }) => [key, { running, concurrency }] as const)
  return Object.fromEntries(rooms.filter(([key]) => wanted.has(key)))
}

export async function load(asked: Asked) {
  const { engine, params, query, look } = asked
  const [view, { limits }, deploys] = await Promise.all([
    engine.flows.get(params.job!),
    asked.cache.bounds(),
    readDeploys(asked),
  ])
  const chosen = chosenIn(query, view)
  const nearOf = (): Promise<Near> | Near =>
    !chosen ? {} : chosen.kind === 'node' ? nearNode(engine, chosen.node.job) : nearWire(engine, view.flow.id, chosen)
  const [near, errors] = await Promise.all([nearOf(), errorsOf(engine, view)])
  const jam = jamOf(view.nodes, view.wires, look.now)
  return {
    view,
    limits: roomsOf(view, limits),
    deploys: view.record === null ? [] : deploys,
    chosen,
    near,
    errors,
    jam,
    isExplaining: jam !== undefined && query.has('jam'),
    isBoard: ['board', 'at', 'play'].some((name) => query.has(name)),
    isWatched: query.has('watch'),
  }
}

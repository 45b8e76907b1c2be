// What the page of a flow asks for: the flow, and what is known of the node or wire that is open.

import type { Engine, FlowView, Item, JobView, PortView, Why } from '../../../engine/engine.ts'
import type { Asked } from '../../page.ts'
import type { LimitRoom } from '../../words/flow.ts'
import { type Chosen, chosenIn } from './query.ts'

/** So many of the values that wait are shown. */
const VALUES = 5

/** What is known of what is open, beside the flow itself. */
export type Near = {
  job?: JobView
  why?: Why
  /** The first values of the port that the wire ends at. */
  port?: PortView & { values: Item[] }
}

export type FlowData = { view: FlowView; limits: Record<string, LimitRoom>; chosen?: Chosen; near: Near }

const none = () => undefined

async function nearNode(engine: Engine, id: number | null): Promise<Near> {
  if (id === null) return {}
  const [job, why] = await Promise.all([
    engine.get(String(id), { schemas: true }).catch(none),
    engine.why(String(id)).catch(none),
  ])
  return { job, why }
}

async function nearWire(engine: Engine, flow: number, { wire, far }: Extract<Chosen, { kind: 'wire' }>): Promise<Near> {
  const [at, dir] = far ? [far.job, 'in' as const] : [flow, 'out' as const]
  if (at === null) return {}
  const [port, near] = await Promise.all([
    engine.look(String(at), dir, wire.to.port, VALUES).catch(none),
    far ? nearNode(engine, at) : {},
  ])
  return { ...near, port }
}

export async function load({ engine, params, query }: Asked): Promise<FlowData> {
  const [view, { limits }] = await Promise.all([engine.flow(params.job!), engine.bounds()])
  const rooms = limits.map(({ key, running, concurrency }) => [key, { running, concurrency }] as const)
  const wanted = new Set(view.nodes.map(({ limit }) => limit))
  const chosen = chosenIn(query, view)
  const near = !chosen
    ? {}
    : chosen.kind === 'node'
      ? await nearNode(engine, chosen.node.job)
      : await nearWire(engine, view.flow.id, chosen)
  return { view, limits: Object.fromEntries(rooms.filter(([key]) => wanted.has(key))), chosen, near }
}

import type { Graph } from '../../core/graph.ts'
import { faultText } from '../../core/issues.ts'
import type { Plan } from '../../core/plan.ts'
import { type GraphWire, wiresOf } from '../../core/wires.ts'
import { itemOf } from '../../redis/item.ts'
import type { FlowState } from '../../redis/types.ts'
import type { Context } from '../context.ts'
import type { GraphChange } from '../engine.ts'
import { faultIn } from '../jobs/checks.ts'
import { sourcePort } from './flow-view.ts'

const [VALUES, ENDS] = [100, 50]

type Unfit = NonNullable<GraphChange['unfit']>
type NearEnd = { id: number; dir: 'i' | 'o'; port: string }

function nearEndOf(state: FlowState, wire: GraphWire): NearEnd | undefined {
  const { node, port } = wire.from
  const id = node === null ? state.id : state.children[node]?.id
  if (id === undefined || !sourcePort(state, wire)?.size) return undefined
  return { id, dir: node === null ? 'i' : 'o', port }
}

/** Ignores wires to the outputs of the flow, because these outputs have no schema. */
export async function unfitOf(
  { store, registry }: Pick<Context, 'store' | 'registry'>,
  state: FlowState,
  graph: Graph,
  { wires }: Plan,
): Promise<Unfit> {
  const added = new Set(wires.added)
  const asked = wiresOf(graph).flatMap((wire) => {
    const near = added.has(wire.id) && wire.to.node !== null ? nearEndOf(state, wire) : undefined
    return near ? [{ wire, near }] : []
  })
  const looked = asked.slice(0, ENDS)
  if (looked.length === 0) return []
  const rows = await store.peek(
    looked.map(({ near }) => near),
    VALUES,
  )
  const found = await Promise.all(
    looked.map(async ({ wire, near }, i) => {
      const node = graph.nodes[wire.to.node!]!
      const at = await registry.find(node.queue, node.class)
      const items = rows[i]?.items ?? []
      const faults = items.flatMap((item) => faultIn(at, { dir: 'in', port: wire.to.port }, itemOf(item).data) ?? [])
      const [first] = faults
      if (!first) return []
      return [
        {
          wire: wire.id,
          job: near.id,
          port: near.port,
          values: faults.length,
          of: items.length,
          why: faultText(first),
        },
      ]
    }),
  )
  return found.flat()
}

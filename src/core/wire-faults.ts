import type { Graph } from './graph.ts'
import { compare, type FlowFacts, wireOps } from './plan.ts'
import type { Op, PortRef, Wiring } from './run.ts'
import { type End, endText } from './wires.ts'

type WireOp = Extract<Op, { op: 'wire' }>
type WireFault = { what: string; op: WireOp }

const CALL = 'a call to the flow'
const list = (names: readonly string[]): string => names.join(', ') || 'none'

function ledTo(to: Wiring['to'], { id, children }: FlowFacts): string {
  if (to === 'call') return CALL
  const nodes = new Map(Object.entries(children).map(([node, child]) => [child.id, node]))
  return list(
    to.map(({ job, port }) =>
      job === id ? port : nodes.has(job) ? `${nodes.get(job)}.${port}` : `job ${job}.${port}`,
    ),
  )
}

const endOf = (of: PortRef): End => ({ node: 'child' in of ? of.child : null, port: 'in' in of ? of.in : of.out })

const wantedOf = (op: WireOp): string => ('call' in op ? CALL : list(op.to.map((end) => endText(endOf(end)))))

export function wireFaults(graph: Graph, facts: FlowFacts): WireFault[] {
  const seen = compare(graph, graph, facts)
  return wireOps(seen, new Set()).flatMap((op) => {
    if (op.op !== 'wire') return []
    const from = endOf(op.from)
    const row = seen.rowOf(from.node ?? undefined, from.node === null ? 'in' : 'out', from.port)
    const [wanted, is] = [wantedOf(op), ledTo(row?.to ?? [], facts)]
    if (wanted === is) return []
    return [{ what: `wires from ${endText(from)}: expected ${wanted}, got ${is}`, op }]
  })
}

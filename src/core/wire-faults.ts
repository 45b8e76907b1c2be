import type { Graph } from './graph.ts'
import { compare, type FlowFacts, laysOf } from './plan.ts'
import type { Op, Wiring } from './run.ts'
import { endText } from './wires.ts'

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

const wantedOf = (op: WireOp): string =>
  'call' in op
    ? CALL
    : list(
        op.to.map((end) => endText({ node: 'child' in end ? end.child : null, port: 'in' in end ? end.in : end.out })),
      )

export function wireFaults(graph: Graph, facts: FlowFacts): WireFault[] {
  const seen = compare(graph, graph, facts)
  return laysOf(seen, new Set()).flatMap((op) => {
    if (op.op !== 'wire') return []
    const { from } = op
    const [child, port] = ['child' in from ? from.child : undefined, 'in' in from ? from.in : from.out]
    const row = seen.rowOf(child, child === undefined ? 'in' : 'out', port)
    const [wanted, is] = [wantedOf(op), ledTo(row?.to ?? [], facts)]
    if (wanted === is) return []
    return [{ what: `wires from ${endText({ node: child ?? null, port })}: expected ${wanted}, got ${is}`, op }]
  })
}

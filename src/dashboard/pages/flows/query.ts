import type { FlowView } from '../../../engine/engine.ts'

export type Chosen =
  | { kind: 'node'; node: FlowView['nodes'][number] }
  | { kind: 'wire'; wire: FlowView['wires'][number]; far: FlowView['nodes'][number] | undefined }

export function chosenIn(query: URLSearchParams, { nodes, wires }: FlowView): Chosen | undefined {
  const node = nodes.find(({ name }) => name === query.get('node'))
  if (node) return { kind: 'node', node }
  const wire = wires.find(({ id }) => id === query.get('wire'))
  return wire && { kind: 'wire', wire, far: nodes.find(({ name }) => name === wire.to.node) }
}

import { SidejobError } from '../../../core/errors.ts'
import { type Status, statuses } from '../../../core/job.ts'
import type { FlowView } from '../../../engine/engine.ts'

export function statusesOf(query: URLSearchParams): Status[] | undefined {
  const given = query.get('status')?.split(',').filter(Boolean)
  if (!given?.length) return undefined
  const wrong = given.find((one) => !(statuses as readonly string[]).includes(one))
  if (wrong) throw new SidejobError('BAD_REQUEST', `status: expected one of ${statuses.join(', ')}, got "${wrong}"`)
  return given as Status[]
}

export type Chosen =
  | { kind: 'node'; node: FlowView['nodes'][number] }
  | { kind: 'wire'; wire: FlowView['wires'][number]; far: FlowView['nodes'][number] | undefined }

export function chosenIn(query: URLSearchParams, { nodes, wires }: FlowView): Chosen | undefined {
  const node = nodes.find(({ name }) => name === query.get('node'))
  if (node) return { kind: 'node', node }
  const wire = wires.find(({ id }) => id === query.get('wire'))
  return wire && { kind: 'wire', wire, far: nodes.find(({ name }) => name === wire.to.node) }
}

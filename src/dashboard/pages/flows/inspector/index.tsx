import type { FlowData } from '../load.ts'
import type { Chosen } from '../query.ts'
import { Node } from './node.tsx'
import { Wire } from './wire.tsx'

export function Inspector({ data, chosen }: { data: FlowData; chosen: Chosen }) {
  return chosen.kind === 'wire' ? (
    <Wire data={data} chosen={chosen} near={data.near} />
  ) : (
    <Node data={data} chosen={chosen} near={data.near} />
  )
}

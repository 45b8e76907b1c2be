import type { Graph } from '../../core/graph.ts'
import type { FlowEvent, FlowNodeView, FlowRow, WireView } from '../../core/schemas/flows.ts'

export type { FlowEvent, FlowNodeView, FlowRow, GraphChange, WireView } from '../../core/schemas/flows.ts'

export type FlowView = {
  flow: FlowRow
  hash: string | null
  undo: number
  /** In milliseconds, or null if the flow is not recorded. */
  record: number | null
  graph: Graph | null
  nodes: FlowNodeView[]
  wires: WireView[]
}

export type GraphVersion = {
  hash: string
  at: number | null
  by: string | null
  back: boolean
  nodes: number
  edges: number
  graph: Graph
}

export type FlowRecord = { keep: number | null; events: FlowEvent[]; cursor: string | null }

export type GraphOptions = { preview?: boolean; match?: string }

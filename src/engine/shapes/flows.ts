// Flows, their graphs and their wires, as they are told.

import type { Graph } from '../../core/graph.ts'
import type { FlowEvent, FlowNodeView, FlowRow, WireView } from '../../core/schemas/flows.ts'

export type { FlowEvent, FlowNodeView, FlowRow, GraphChange, WireView } from '../../core/schemas/flows.ts'

/** A flow as it is, in one look. */
export type FlowView = {
  flow: FlowRow
  /** Stands for the graph in force: an `If-Match` for those that change it. */
  hash: string | null
  /** How many graphs back one can go. */
  undo: number
  /** For how long it is told what it did; null where nothing is recorded. */
  record: number | null
  graph: Graph | null
  nodes: FlowNodeView[]
  wires: WireView[]
}

/** A graph that is or was in force. */
export type GraphVersion = {
  hash: string
  at: number | null
  by: string | null
  /** It came back by an undo. */
  back: boolean
  nodes: number
  edges: number
  graph: Graph
}

/** A page of what a flow did, oldest first; `cursor` is where those before begin. */
export type FlowRecord = { keep: number | null; events: FlowEvent[]; cursor: string | null }

/** What a change of a graph expects: `match` is the hash of the graph that it was made from. */
export type GraphOptions = { preview?: boolean; match?: string }

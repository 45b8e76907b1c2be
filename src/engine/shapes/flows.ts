// Flows, their graphs and their wires, as they are told.

import type { Graph } from '../../core/graph.ts'
import type { Status } from '../../core/job.ts'
import type { Plan } from '../../core/plan.ts'
import type { PastRun } from '../../core/run.ts'
import type { Item } from './views.ts'

/** What a new graph did to its flow, or would do. */
export type GraphChange = Omit<Plan, 'ops'> & { applied: boolean }

export type WireView = {
  id: string
  from: { node: string | null; port: string }
  to: { node: string | null; port: string }
  /** Whether both ends are there: values pass as they come. */
  laid: boolean
  /** How many values wait at its far end; wires that end in one port share them. */
  size: number
  /** How many wait at its near end. */
  behind: number
  oldest: Item | null
  /** When the oldest of those came over the wire; null of one that was put there otherwise. */
  oldestAt: number | null
  /** Values a minute. */
  rate: number
  /** How many came over it, and how many were taken from its far end, in each of ten minutes; the last is this one. */
  in: number[]
  out: number[]
}

/** A flow in short. */
export type FlowRow = {
  id: number
  /** What its graph is called, or its alias, or its class. */
  name: string
  aliases: string[]
  status: Status
  createdAt: number
  /** How many nodes its graph has, and how many of those have something to do. */
  nodes: number
  active: number
  wires: number
  /** How many values wait at its wires, and since when the oldest. */
  values: number
  oldestAt: number | null
  /** When its graph came into force, and by whom. */
  changedAt: number | null
  changedBy: string | null
}

/** A node of a flow, and its job once it has one. */
export type FlowNodeView = {
  name: string
  queue: string
  class: string
  job: number | null
  status: Status | null
  ranAt: number | null
  lastRun: PastRun | null
  /** The limit that it waits at. */
  limit: string | null
  leaseUntil: number | null
  /** When it may go on, where it waits for a moment. */
  until: number | null
}

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

/** What one script has done to a flow; what had no room is counted in `more`. */
export type FlowEvent = {
  id: string
  at: number
  /** Nodes that moved; null is the flow itself. A run that has ended by it stands beside it. */
  moves: { node: string | null; job: number; was: Status | null; is: Status; run: PastRun | null }[]
  /** How many values waited at a port before, and after. */
  counts: { node: string | null; dir: 'in' | 'out'; port: string; was: number; is: number }[]
  more: number
}

/** A page of what a flow did, oldest first; `cursor` is where those before begin. */
export type FlowRecord = { keep: number | null; events: FlowEvent[]; cursor: string | null }

/** What a change of a graph expects: `match` is the hash of the graph that it was made from. */
export type GraphOptions = { preview?: boolean; match?: string }

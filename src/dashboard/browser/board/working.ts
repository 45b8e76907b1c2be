// Keeps a graph's draft in the tab, so that it survives a reload.

import type { FlowNodeView, WireView } from '../../../engine/engine.ts'
import type { LimitRoom } from '../../words/flow.ts'
import type { Graph } from './draft.ts'
import { exact } from './exact.ts'

export type Editing = {
  job: number
  hash: string | null
  graph: string
  changedAt: number | null
  zone: string
  wires: WireView[]
  nodes: FlowNodeView[]
  limits: Record<string, LimitRoom>
  classes: { name: string; ins: string[]; outs: string[] }[]
}
type Kept = { hash: string | null; graph: string }

export function createDraft({ job, hash, graph }: Editing) {
  const name = `sidejob-graph-${job}`
  const kept = sessionStorage.getItem(name)
  // Keep the draft even if the graph has changed since then: the preview reports that change.
  const working = kept === null ? { hash, graph } : (JSON.parse(kept) as Kept)
  const past: Graph[] = []
  let now = exact<Graph>(working.graph)
  const keep = () => sessionStorage.setItem(name, JSON.stringify({ hash: working.hash, graph: JSON.stringify(now) }))
  return {
    base: exact<Graph>(graph),
    hash: working.hash,
    get now(): Graph {
      return now
    },
    become(next: Graph): void {
      past.push(now)
      now = next
      keep()
    },
    canGoBack: () => past.length > 0,
    back(): boolean {
      const before = past.pop()
      if (before) now = before
      if (before) keep()
      return before !== undefined
    },
    forget: () => sessionStorage.removeItem(name),
  }
}

export type Draft = ReturnType<typeof createDraft>

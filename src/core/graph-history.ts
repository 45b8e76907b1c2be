// The graphs that a flow had before: up to five of them, and when and by whom each came into force.

import { CLOSED, list, parseJson } from './codec/json.ts'
import { type Encoded, encodeValue } from './codec/value.ts'

const KEPT = 5

/** When a graph came into force, and by whom: `key:3`; null where it came by the flow's own port. */
export type Version = { at: number; by: string | null; back?: true }

/** The fields of a flow's state that hold its graphs; each may be absent. */
export type Graphs = { graph?: Encoded; history?: Encoded; versions?: Encoded }

const historyOf = (before: readonly Encoded[]): Pick<Graphs, 'history'> =>
  before.length > 0 ? { history: `[${before.join(',')}]` as Encoded } : {}

/** The graphs before this one, oldest first. */
export const earlier = ({ history }: Pick<Graphs, 'history'>): Encoded[] =>
  history === undefined ? [] : (parseJson(history, list(CLOSED)) as Encoded[])

/**
 * Times of the graphs, oldest first, the current one last; null for graphs older than this record.
 *
 * @example versionsOf(graphs).at(-1)?.by // 'key:3'
 */
export function versionsOf(graphs: Graphs): (Version | null)[] {
  const kept = graphs.versions === undefined ? [] : (JSON.parse(graphs.versions) as Version[])
  const n = graphs.graph === undefined ? 0 : earlier(graphs).length + 1
  return [...Array.from({ length: Math.max(0, n - kept.length) }, () => null), ...kept.slice(kept.length - n)]
}

/** The fields with a new current graph. */
export function withGraph(was: Graphs, graph: Encoded, version: Version): Record<string, Encoded> {
  const before = was.graph === undefined ? [] : [...earlier(was), was.graph].slice(-KEPT)
  const versions = [...versionsOf(was), version].slice(-before.length - 1)
  return { graph, ...historyOf(before), versions: encodeValue(versions) }
}

/** The fields with the previous graph restored; undefined if there is none. */
export function withoutLast(was: Graphs, version: Version): (Graphs & { graph: Encoded }) | undefined {
  const before = earlier(was)
  const graph = before.pop()
  if (graph === undefined) return undefined
  const versions = [...versionsOf(was).slice(0, -2), { ...version, back: true }]
  return { graph, ...historyOf(before), versions: encodeValue(versions) }
}

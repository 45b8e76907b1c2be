import { CLOSED, list, parseJson } from './codec/json.ts'
import { type Encoded, encodeValue } from './codec/value.ts'

const KEPT = 5

/** `by` is the caller, such as `key:3`, or null if the graph arrived at a port of the flow. */
export type Version = { at: number; by: string | null; back?: true }

export type Graphs = { graph?: Encoded; history?: Encoded; versions?: Encoded }

const historyOf = (before: readonly Encoded[]): Pick<Graphs, 'history'> =>
  before.length > 0 ? { history: `[${before.join(',')}]` } : {}

export const earlierGraphs = ({ history }: Pick<Graphs, 'history'>): Encoded[] =>
  history === undefined ? [] : (parseJson(history, list(CLOSED)) as Encoded[])

/** Oldest first. A version is null if it was not recorded. */
export function versionsOf(graphs: Graphs): (Version | null)[] {
  const kept = graphs.versions === undefined ? [] : (JSON.parse(graphs.versions) as Version[])
  const n = graphs.graph === undefined ? 0 : earlierGraphs(graphs).length + 1
  return [...Array.from({ length: Math.max(0, n - kept.length) }, () => null), ...kept.slice(kept.length - n)]
}

export function withGraph(was: Graphs, graph: Encoded, version: Version): Record<string, Encoded> {
  const before = was.graph === undefined ? [] : [...earlierGraphs(was), was.graph].slice(-KEPT)
  const versions = [...versionsOf(was), version].slice(-before.length - 1)
  return { graph, ...historyOf(before), versions: encodeValue(versions) }
}

export function withoutLast(was: Graphs, version: Version): (Graphs & { graph: Encoded }) | undefined {
  const before = earlierGraphs(was)
  const graph = before.pop()
  if (graph === undefined) return undefined
  const versions = [...versionsOf(was).slice(0, -2), { ...version, back: true }]
  return { graph, ...historyOf(before), versions: encodeValue(versions) }
}

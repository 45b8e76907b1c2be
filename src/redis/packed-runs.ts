// The runs of a commit as they are sent: those of one piece that have completed and done nothing else, as one.

import { type RunOutcome, runArguments } from './changes.ts'

const DIGITS = 2
/** So many are worth a word of their own. */
const FEWEST = 2

type Packed = { piece: string; token: string; n: number; places: Map<number, number> }

/** Where its runs stand among all; a run's place in its piece is the end of its id. */
const maskOf = ({ places }: Packed): string => {
  const mask: string[] = []
  for (let place = Math.max(...places.keys()); place >= 0; place--) mask[place] = places.has(place) ? '1' : '0'
  return mask.join('')
}

/** What a run has in common with the others of its piece, as text; nothing where it goes by itself. */
function groupOf({ token, n, end, words }: RunOutcome): string | undefined {
  if (end !== 'completed' || words.length > 0) return undefined
  const dot = token.indexOf('.')
  return dot > DIGITS ? `${token.slice(0, dot - DIGITS)} ${n} ${token.slice(dot + 1)}` : undefined
}

/**
 * Runs as a commit takes them. Jobs of a piece have tokens that differ in their ids only, and no two runs of others do.
 *
 * @example const sent = packedRuns(runs, true); sent.words(); sent.answers(['completed']) // an answer for each run
 */
export function packedRuns(runs: readonly RunOutcome[], ofLane: boolean) {
  const groups = new Map<string, Packed>()
  for (const [i, run] of ofLane ? runs.entries() : []) {
    const group = groupOf(run)
    if (group === undefined) continue
    const [piece, , token] = group.split(' ') as [string, string, string]
    const known = groups.get(group) ?? { piece, token, n: run.n, places: new Map() }
    const dot = run.token.indexOf('.')
    known.places.set(Number(run.token.slice(dot - DIGITS, dot)), i)
    groups.set(group, known)
  }
  const pieces = [...groups.values()].filter(({ places }) => places.size >= FEWEST)
  const together = new Set(pieces.flatMap(({ places }) => [...places.values()]))
  const alone = runs.filter((_, i) => !together.has(i))
  return {
    alone,
    pieces,
    words: (): string[] => [
      String(alone.length + pieces.length),
      ...alone.flatMap(runArguments),
      ...pieces.flatMap((packed) => {
        const { piece, token, n } = packed
        return [`p${piece}.${token}`, String(n), 'completed', '0', '1', maskOf(packed)]
      }),
    ],
    /**
     * The answers of all runs, in their order: one for all of a piece, or one for each, in the order of their ids. A request
     * that came too late has none.
     */
    answers(given: readonly string[]): string[] {
      if (given.length === 0) return []
      const all: string[] = []
      let at = 0
      for (let i = 0; i < runs.length; i++) if (!together.has(i)) all[i] = given[at++]!
      for (const { places } of pieces) {
        const each = given[at++]!.split(',')
        const inOrder = [...places].sort(([one], [other]) => one - other)
        for (const [k, [, i]] of inOrder.entries()) all[i] = each.length > 1 ? each[k]! : each[0]!
      }
      return all
    },
  }
}

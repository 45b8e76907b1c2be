// The runs of a commit as they are sent: those of one piece that have completed and done nothing else, as one.

import { type RunOutcome, runArguments } from './changes.ts'

const DIGITS = 2
const ZERO = 48
/** So many are worth a word of their own. */
const FEWEST = 2

/** Jobs whose tokens begin with the number of their piece, and end alike; `dot` is where the id ends. */
type Packed = { piece: string; token: string; dot: number; n: number; places: Map<number, number> }

/** Where its runs stand among all; a run's place in its piece is the end of its id. */
const maskOf = ({ places }: Packed): string => {
  const mask: string[] = []
  for (let place = Math.max(...places.keys()); place >= 0; place--) mask[place] = places.has(place) ? '1' : '0'
  return mask.join('')
}

const hasEnded = ({ end, words }: RunOutcome): boolean => end === 'completed' && words.length === 0

/** Whether a run is of the same piece. Compared in place: texts that are cut out and looked up cost workerd a microsecond each. */
const isOf = ({ piece, token, dot, n }: Packed, run: RunOutcome): boolean =>
  run.n === n &&
  run.token.length === dot + 1 + token.length &&
  run.token.startsWith(piece) &&
  run.token.startsWith('.', dot) &&
  run.token.endsWith(token)

/** The place of a job in its piece: the last two digits of its id. */
const placeOf = (token: string, dot: number): number =>
  (token.charCodeAt(dot - 2) - ZERO) * 10 + token.charCodeAt(dot - 1) - ZERO

/** The runs that may go together, by their pieces. */
function groupsOf(runs: readonly RunOutcome[]): Packed[] {
  const groups: Packed[] = []
  for (const [i, run] of runs.entries()) {
    if (!hasEnded(run)) continue
    const { token, n } = run
    let group = groups.findLast((one) => isOf(one, run))
    if (!group) {
      const dot = token.indexOf('.')
      if (dot <= DIGITS) continue
      group = { piece: token.slice(0, dot - DIGITS), token: token.slice(dot + 1), dot, n, places: new Map() }
      groups.push(group)
    }
    group.places.set(placeOf(token, group.dot), i)
  }
  return groups
}

/**
 * Runs as a commit takes them. Jobs of a piece have tokens that differ in their ids only, and no two runs of others do.
 *
 * @example const sent = packedRuns(runs, true); sent.words(); sent.answers(['completed']) // an answer for each run
 */
export function packedRuns(runs: readonly RunOutcome[], ofLane: boolean) {
  const pieces = (ofLane ? groupsOf(runs) : []).filter(({ places }) => places.size >= FEWEST)
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

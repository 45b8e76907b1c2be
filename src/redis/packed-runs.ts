// The runs of a piece (lib/runtime/pieces.lua) end together if they only completed, or made the same changes to their
// ports.

import { type RunOutcome, runArguments } from './changes.ts'
import { PIECE } from './packed-jobs.ts'
import { type Ported, portedBy, portWords } from './ported.ts'

const DIGITS = 2
const ZERO = 48
const FEWEST = 2

/** `dot`: position of the first dot in a token. */
type Packed = {
  piece: string
  token: string
  dot: number
  n: number
  size: number
  shape: string | undefined
  ported: (Ported | undefined)[]
  runs: (number | undefined)[]
}

const maskOf = ({ runs }: Packed): string => {
  const last = runs.findLastIndex((at) => at !== undefined)
  return Array.from({ length: last + 1 }, (_, place) => (runs[place] === undefined ? '0' : '1')).join('')
}

/** Each slice of a string costs workerd a microsecond, so tokens are compared in place. */
const isOf = ({ piece, token, dot, n, shape }: Packed, run: RunOutcome, ported: Ported | undefined): boolean =>
  run.n === n &&
  shape === ported?.shape &&
  run.token.length === dot + 1 + token.length &&
  run.token.startsWith(piece) &&
  run.token.startsWith('.', dot) &&
  run.token.endsWith(token)

const placeOf = (token: string, dot: number): number =>
  (token.charCodeAt(dot - 2) - ZERO) * 10 + token.charCodeAt(dot - 1) - ZERO

function groupsOf(runs: readonly RunOutcome[]): Packed[] {
  const groups: Packed[] = []
  let group: Packed | undefined
  for (let i = 0; i < runs.length; i++) {
    const run = runs[i]!
    if (run.end !== 'completed') continue
    const ported = run.words.length === 0 ? undefined : portedBy(run.words)
    if (run.words.length > 0 && !ported) continue
    if (!group || !isOf(group, run, ported))
      group = groups.findLast((one) => isOf(one, run, ported)) ?? packedFrom(run, ported)
    if (!group) continue
    if (group.size === 0) groups.push(group)
    const place = placeOf(run.token, group.dot)
    if (group.runs[place] === undefined) group.size++
    group.runs[place] = i
    group.ported[place] = ported
  }
  return groups
}

/** The jobs of the largest set of equal runs stay in the piece. All other jobs leave the piece. */
const largest = (groups: readonly Packed[]): Packed[] =>
  groups.filter(
    (one, i) =>
      !groups.some(
        (other, j) => other.piece === one.piece && (other.size > one.size || (other.size === one.size && j < i)),
      ),
  )

function packedFrom({ token, n }: RunOutcome, ported: Ported | undefined): Packed | undefined {
  const dot = token.indexOf('.')
  if (dot <= DIGITS) return undefined
  const [piece, rest] = [token.slice(0, dot - DIGITS), token.slice(dot + 1)]
  const [runs, each] = [new Array<number | undefined>(PIECE), new Array<Ported | undefined>(PIECE)]
  return { piece, token: rest, dot, n, size: 0, shape: ported?.shape, ported: each, runs }
}

export function packedRuns(runs: readonly RunOutcome[], ofLane: boolean) {
  const pieces = largest(ofLane ? groupsOf(runs) : []).filter(({ size }) => size >= FEWEST)
  const isTogether: true[] = new Array(runs.length)
  for (const piece of pieces) for (const i of piece.runs) if (i !== undefined) isTogether[i] = true
  const alone = runs.filter((_, i) => !isTogether[i])
  return {
    alone,
    pieces,
    words: (): string[] => [
      String(alone.length + pieces.length),
      ...alone.flatMap(runArguments),
      ...pieces.flatMap((packed) => {
        const { piece, token, n, shape, ported } = packed
        const words = shape === undefined ? [] : portWords(ported)
        return [`p${piece}.${token}`, String(n), 'completed', '0', String(1 + words.length), maskOf(packed), ...words]
      }),
    ],
    answers(given: readonly string[]): string[] {
      if (given.length === 0) return []
      const all: string[] = new Array(runs.length)
      let at = 0
      for (let i = 0; i < runs.length; i++) if (!isTogether[i]) all[i] = given[at++]!
      for (const piece of pieces) {
        const each = given[at++]!.split(',')
        let k = 0
        for (const i of piece.runs) if (i !== undefined) all[i] = each.length > 1 ? each[k++]! : each[0]!
      }
      return all
    },
  }
}

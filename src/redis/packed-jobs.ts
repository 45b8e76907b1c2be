// Jobs of one call that wait in pieces, as they are sent: what each has of its own is its args, and what waits at its ports.
// See lib/runtime/pieces.lua.

import { isAlikeBut } from '../core/alike.ts'
import type { Sealed, Vault } from './vault.ts'

/** As many as there are in a piece at most. */
export const PIECE = 100
/** Bytes: what is larger stands beside the record, so that a change of the record does not write it again. */
const BIG = 512
/** Args and values of one job together: in a piece they are written seldom, but with those of a hundred others. */
const MOST = 1_024

/** Whether a text has more bytes than so many. */
const isOver = (value: string, most: number): boolean =>
  value.length > most / 3 && new TextEncoder().encode(value).length > most

/** Whether a value, or what waits at a port, stands beside the record. */
export const isBig = (value: string): boolean => isOver(value, BIG)

/** What waits at one port of one job: how many values, and as its document has them. */
type Waiting = { port: string; n: number; text: string }

/** A job that is to be made, as far as it differs from others like it. */
type Made = { args?: unknown; inputs?: Record<string, string[]> }

/** What one job has of its own. */
export type Own = { args: Sealed | ''; waiting: readonly Waiting[] }

const nothing: readonly Waiting[] = []

/** What a job has of its own where that can be in a piece, with args as they are kept. */
export function ownOf({ inputs }: Made, args: Sealed | '', { sealItem }: Vault): Own | undefined {
  if (!inputs) return isOver(args, MOST) ? undefined : { args, waiting: nothing }
  const waiting: Waiting[] = []
  let all: string = args
  for (const port in inputs) {
    const items = inputs[port]!.map(sealItem)
    if (items.length === 0) continue
    const text = items.join('')
    if (isBig(text)) return undefined
    all += text
    waiting.push({ port, n: items.length, text: JSON.stringify(items) })
  }
  return isOver(all, MOST) ? undefined : { args, waiting }
}

const isAlike = (one: Own, other: Own): boolean =>
  one.waiting.length === other.waiting.length &&
  one.waiting.every(({ port, n }, i) => other.waiting[i]!.port === port && other.waiting[i]!.n === n)

const BUT = ['args', 'inputs'] as const

/** What each of the jobs from `from` on has of its own, as far as they are like the first but for that. */
export function ownOfAlike(
  jobs: readonly Made[],
  args: readonly (Sealed | '')[],
  from: number,
  vault: Vault,
): [Own, ...Own[]] | [] {
  const first = jobs[from]!
  const all: Own[] = []
  for (let i = from; i < jobs.length && isAlikeBut(BUT, first, jobs[i]!); i++) {
    const own = ownOf(jobs[i]!, args[i]!, vault)
    if (!own || !isAlike(own, all[0] ?? own)) break
    all.push(own)
  }
  return all as [Own, ...Own[]] | []
}

/** The ports of a record with what waits there from the first; undefined where it has none of that name yet. */
export function withWaiting(
  fields: Readonly<Record<string, string>>,
  { waiting }: Own,
): Record<string, string> | undefined {
  const filled = { ...fields }
  for (const { port, n } of waiting) {
    if (!(`i:${port}` in fields)) return undefined
    filled[`i:${port}`] = `${n},0`
  }
  return filled
}

/** What each of them has of its own, a text for the args of each piece, and one for the values. */
export function ownWords(all: readonly Own[]): string[] {
  const words: string[] = []
  for (let from = 0; from < all.length; from += PIECE) {
    const held = all.slice(from, from + PIECE)
    words.push(JSON.stringify(held.map(({ args }) => args)))
    const ports = held[0]!.waiting.map(({ port }, i) => [`vi:${port}`, held.map(({ waiting }) => waiting[i]!.text)])
    if (ports.length > 0) words.push(JSON.stringify(Object.fromEntries(ports)))
  }
  return words
}

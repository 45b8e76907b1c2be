// lib/runtime/pieces.lua explains pieces.

import { isAlikeBut } from '../core/alike.ts'
import { bytesOf } from '../core/bytes.ts'
import type { Sealed, Vault } from './vault.ts'

export const PIECE = 100
/** In bytes. A larger value has its own key, because changes to a record write the whole record. */
const BIG = 512
/** Maximum bytes of the args and values of a packed job. Each change to one job writes the whole piece. */
const MOST = 1_024

const isOver = (value: string, most: number): boolean => value.length > most / 3 && bytesOf(value) > most

export const isBig = (value: string): boolean => isOver(value, BIG)

type Waiting = { port: string; n: number; text: string }

type Made = { args?: unknown; inputs?: Record<string, string[]> }

type Own = { args: Sealed | ''; waiting: readonly Waiting[] }

const nothing: readonly Waiting[] = []

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

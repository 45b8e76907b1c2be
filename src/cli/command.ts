// What a command is, and what it works with.

import type { Client } from '../client/index.ts'

export type Option = { type: 'string' | 'boolean'; short?: string; default?: string; multiple?: true; does: string }

export type Given = Record<string, string | boolean | undefined>

export type Io = {
  /** One line of what was asked for. */
  print: (line: string) => void
  /** What was asked for: a table or a list of members in a terminal, JSON with --json. */
  show: (data: unknown, columns?: readonly string[]) => void
  /** One line about how it goes. */
  note: (line: string) => void
  /** One of many: a line that is printed, or JSON of it. */
  row: (data: object, line: string) => void
  /** How it went: a note, or JSON that is printed. */
  tell: (data: object, line: string) => void
  /** How far it is, in place of how far it was. */
  progress: (done: number, total: number, words: string) => void
  lines: AsyncIterable<string>
  /** Whether a person can answer. */
  isTerminal: boolean
  /** Asks for a yes; false where nobody can answer. */
  confirm: (question: string) => Promise<boolean>
  json: boolean
}

export type Command = {
  does: string
  /** What stands behind its name: `job`, `[class]` where it may be left out, `values…` for any number. */
  takes?: readonly string[]
  options?: Record<string, Option>
  /** Answers the exit code; nothing is 0. */
  run: (client: Client, given: Given, io: Io, words: string[]) => Promise<number | undefined> | Promise<void>
}

/** What was given in a way that the command does not take. */
export class UsageError extends Error {}

/** @example count({ limit: '4' }, 'limit') // 4 */
export function count(given: Given, name: string): number {
  const number = Number(given[name])
  if (Number.isInteger(number) && number > 0) return number
  throw new UsageError(`--${name}: expected a number above 0, got ${String(given[name])}`)
}

/** @example jsonOf('{"n":1}', '--args') */
export function jsonOf(text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(`${name}: expected JSON, got ${text}; a text needs quotes: '"${text}"'`)
  }
}

/** The options that were given, under their own names. */
export const chosen = (given: Given, ...names: string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (typeof given[name] === 'string' ? [[name, given[name]]] : [])))

export const yes: Option = { type: 'boolean', short: 'y', does: 'does it; without this it only says what it would do' }

/** Does something for all, some at once. */
export async function forEach<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values()
  const go = async () => {
    for (const item of rest) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, go))
}

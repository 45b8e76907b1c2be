import { readFile } from 'node:fs/promises'
import type { Client } from '../client/index.ts'
import type { Io } from './io.ts'

export type { Io } from './io.ts'

export type Option = {
  /** An option without a type takes a text. */
  type?: 'boolean'
  short?: string
  default?: string
  multiple?: true
  /** Fields that the option sets in the API, if their names differ from its own. */
  fields?: readonly string[]
  does: string
}

export type Given = Record<string, string | boolean | undefined>

export type CommonFlag = 'url' | 'key' | 'profile' | 'json' | 'help'

export type Command = {
  does: string
  takes?: readonly string[]
  options?: Record<string, Option>
  flags?: readonly CommonFlag[]
  run: (client: Client, given: Given, io: Io, words: string[]) => Promise<number | undefined> | Promise<void>
}

export class UsageError extends Error {}

export function count(given: Given, name: string): number {
  const number = Number(given[name])
  if (Number.isInteger(number) && number > 0) return number
  throw new UsageError(`--${name}: expected a whole number above 0, got ${String(given[name])}`)
}

/** Reads JSON from the argument, from a file (`@args.json`) or from standard input (`-`). */
export async function jsonFrom(text: string, name: string, io: Pick<Io, 'lines'>): Promise<unknown> {
  // An open standard input keeps the process alive, so only `-` opens it.
  if (text === '-') return parsedIn((await Array.fromAsync(io.lines())).join('\n'), `${name}: the input`)
  if (!text.startsWith('@')) return parsedIn(text, name, `JSON, got ${text}; a string needs quotes: '"${text}"'`)
  const file = text.slice(1)
  const content = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${name}: cannot read ${file} (${error.code})`)
  })
  return parsedIn(content, `${name}: ${file}`)
}

function parsedIn(text: string, place: string, expected?: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${place}: expected ${expected ?? `valid JSON: ${(error as Error).message}`}`)
  }
}

export const argsIn = async ({ args }: Given, io: Io): Promise<unknown> =>
  args === undefined ? undefined : jsonFrom(String(args), '--args', io)

type Perform = (client: Client, name: string, given: Given) => Promise<unknown>

/** A command that shows the answer of one call. */
export const look = (does: string, takes: string, perform: Perform): Command => ({
  does,
  takes: [takes],
  async run(client, given, { show }, [name]) {
    show(await perform(client, name!, given))
  },
})

export const JSON_HELP = 'JSON, @file or - for standard input'

export const reason = {
  reason: { fields: ['Sidejob-Reason'], does: 'reason for the audit log' },
} as const

export const chosen = (given: Given, ...names: string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (typeof given[name] === 'string' ? [[name, given[name]]] : [])))

export async function* everyPage<P extends { cursor: string | null }>(
  read: (at: { cursor?: string }) => Promise<P>,
): AsyncGenerator<P> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: P = await read(cursor ? { cursor } : {})
    yield page
    cursor = page.cursor
  }
}

export const pagesOf = <P extends { cursor: string | null }>(read: (at: { cursor?: string }) => Promise<P>) =>
  Array.fromAsync(everyPage(read))

export function pairsIn(given: Given, option: string, word = 'name'): Record<string, string> | undefined {
  const all = given[option] as unknown as string[] | undefined
  const pairs = all?.map((one) => {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(one) ?? []
    if (name === undefined) throw new UsageError(`--${option}: expected ${word}=value, got ${one}`)
    return [name, value!] as const
  })
  return pairs && Object.fromEntries(pairs)
}

export const pairsOf = (given: Given) => ({ args: pairsIn(given, 'arg', 'path'), labels: pairsIn(given, 'label') })

export const filters = {
  queue: { short: 'q', does: 'only jobs in this queue' },
  class: { short: 'c', does: 'only jobs of this class' },
  group: { does: 'only jobs in this group' },
} as const

/** Options of lists of jobs. They set `labels.<name>` and `args.<path>`. */
export const pairs = {
  label: {
    short: 'l',
    multiple: true,
    fields: ['labels'],
    does: 'only jobs with this label: customer=7',
  },
  arg: {
    multiple: true,
    fields: ['args'],
    does: 'only jobs with this value at a path in their args: order.id=4711',
  },
} as const

export const paging = {
  limit: { short: 'n', default: '20', does: 'maximum number of jobs' },
  cursor: { does: 'cursor of the next page' },
} as const

export const yes: Option = {
  type: 'boolean',
  short: 'y',
  does: 'make the changes; without --yes, only show them',
}

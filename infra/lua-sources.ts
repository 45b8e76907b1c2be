// The files of src/redis/lua as they are written: where they are, and what the header of a script says.

import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { listAnswers } from './lua-answers.ts'
import { shortenFields } from './lua-records.ts'
import { readArguments } from './lua-words.ts'

const root = join(import.meta.dirname, '../src/redis/lua')

/** A script as it is written, and what its header says. */
export type Source = {
  name: string
  file: string
  text: string
  args: { name: string; int: boolean }[]
  note: string[]
  /** Which parts of sidejob call it, and the first words of the keys that it may touch. */
  access: { by: string[]; reads: string[]; writes: string[] }
  /**
   * Which modules, and members of them, it leaves to another script of the same text, which do nothing in this one, and which
   * that one leaves to it.
   */
  left?: { to: string; what: string[]; idle: string[]; alone: string[]; shared: string }
}

/** A file by its path from `root`. */
export const readLua = (file: string): string => readFileSync(join(root, file), 'utf8')

/** The Lua files below a folder, by their paths from `root`. */
export const luaFiles = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.lua'))
    .map((file) => join(folder, file))
    .sort()
/** Those that are sent to Redis, in the order of their names. */
export const scriptFiles = (): string[] =>
  [...luaFiles('scripts'), ...luaFiles('queries')].sort((a, b) => (basename(a) < basename(b) ? -1 : 1))

/** A line of a header that lists something. */
function listed(file: string, header: string, line: string): string[] {
  const found = new RegExp(`^-- ${line}: (.*)$`, 'm').exec(header)?.[1]
  if (!found) throw new Error(`${file}: the header has no "-- ${line}:" line`)
  return found === 'none' ? [] : found.split(',').map((name) => name.trim())
}

/**
 * `-- left to commit_verbs: run/ops, run/retry.release`: what the other script has, and this one never comes to.
 * `-- idle: port/hints.hears`: what it does come to, with nothing to be done there.
 * `-- here alone: run/lone`: modules that the other script never reaches. Lines that end in `-- here alone` are left out of it.
 */
function leftIn(file: string, header: string, text: string): Source['left'] {
  const to = /^-- left to (\w+): /m.exec(header)?.[1]
  if (!to) return undefined
  const [what, idle, alone] = [`left to ${to}`, 'idle', 'here alone'].map((line) => listed(file, header, line))
  return { to, what: what!, idle: idle!, alone: alone!, shared: cleaned(file, shared(text)) }
}

/** Without comments, with short fields, and with verbs that read what they take; every line stays where it is. */
export const cleaned = (file: string, text: string): string =>
  shortenFields(
    file,
    listAnswers(file, readArguments(file, text))
      .replace(/^\s*--.*$/gm, (line) => line.replace(/\S.*/, ''))
      .replace(/\s--\s.*$/gm, ''),
  )

/** The header of a script is its signature: `-- args: ns, seq:int, ...`. */
export function parse(file: string, text: string): Source {
  const header = /^(--.*\n)+/.exec(text)?.[0] ?? ''
  const list = (line: string) => listed(file, header, line)
  return {
    name: basename(file, '.lua'),
    file,
    text: cleaned(file, text),
    args: list('args')
      .filter((name) => name !== '...')
      .map((name) => ({ name: name.replace(':int', ''), int: name.endsWith(':int') })),
    access: { by: list('by'), reads: list('reads'), writes: list('writes') },
    left: leftIn(file, header, text),
    note: header
      .trim()
      .split('\n')
      .map((line) => line.replace(/^-- ?/, '')),
  }
}

/** Without the lines that the other script of the same text has not; every line stays where it is. */
const shared = (text: string): string => text.replace(/^.* -- here alone$/gm, '')

/** A script that leaves something to another one, and that: the same, with everything but what the first has alone. */
export const bothOf = ({ left, ...source }: Source): Source[] =>
  left
    ? [
        { ...source, left },
        {
          ...source,
          name: left.to,
          text: left.shared,
          left: { to: source.name, what: left.alone, idle: [], alone: [], shared: '' },
        },
      ]
    : [source]

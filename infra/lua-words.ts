// Verbs name what they take, `function verbs.adopt(me, job, name)`, and are made to read it in the order that
// src/redis/ops.ts says: so words cannot be read in another order, or in another way, than they are written.

import { calls, type Kind, sayings, verbs } from '../src/redis/ops.ts'
import { snake } from './lua-names.ts'

type Args = Readonly<Record<string, Kind>>

const tables: Record<string, Readonly<Record<string, Args>>> = { verbs: { ...verbs, ...calls }, says: sayings }

const READ = 'args_of.take()'

/** How a verb reads what is one word, or as many as a number before them says; all others are functions of run/ops/given. */
const readers: Partial<Record<Kind, string>> = {
  text: READ,
  value: READ,
  side: READ,
  writing: READ,
  field: READ,
  flag: `${READ} == '1'`,
  number: 'args_of.take_int()',
  list: 'args_of.take_list()',
  values: 'args_of.take_list()',
}

/** Kinds that are several values, or are called otherwise in Lua. */
const called: Partial<Record<Kind, string[]>> = {
  target: ['id', 'doc'],
  job: ['spec', 'args'],
  fields: ['patched'],
  values: ['texts'],
}

const namesOf = (name: string, kind: Kind): string[] => called[kind] ?? [snake(name)]

const MODULES = "local args_of = require 'runtime/args' local given_of = require 'run/ops/given' "

/** The statements that read what a verb takes; what it does not name is read all the same. */
function reading(args: Args, wanted: ReadonlySet<string>, me: string): string {
  return Object.entries(args)
    .map(([name, kind]) => {
      const names = namesOf(name, kind).map((one) => (wanted.has(one) ? one : '_'))
      return `local ${names.join(', ')} = ${readers[kind] ?? `given_of.${kind}(${me})`}`
    })
    .join(' ')
}

/**
 * The source of some verbs with what they take read at their beginning; every line stays where it is.
 *
 * @example readArguments('lib/run/ops/on_x.lua', 'function verbs.unset(me, field) end') // '… local field = args_of.take() end'
 */
export function readArguments(file: string, text: string): string {
  if (!file.startsWith('lib/run/ops/')) return text
  const signature = /^function (verbs|says)\.(\w+)\((\w+)((?:, \w+)*)\)/gm
  const read = text.replace(signature, (_, table: string, verb: string, me: string, more: string, at: number) => {
    const refuse = (says: string): never => {
      throw new Error(`${file}:${text.slice(0, at).split('\n').length}: ${says} (src/redis/ops.ts)`)
    }
    const args = tables[table]![verb] ?? refuse(`expected a verb, got ${verb}`)
    const all = new Set(Object.entries(args).flatMap(([name, kind]) => namesOf(name, kind)))
    const wanted = more.split(', ').slice(1)
    for (const name of wanted) if (!all.has(name)) refuse(`expected what ${verb} takes, got ${name}`)
    return `function ${table}.${verb}(${me}) ${reading(args, new Set(wanted), me)}`
  })
  return read.replace(/^local (verbs|says) = \{\}$/m, (line) => MODULES + line)
}

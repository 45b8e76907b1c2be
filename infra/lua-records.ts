// Records have long field names in the sources of scripts and short ones in Redis: `doc.lease_until` becomes `doc.le`,
// `fields.lease_until` the text 'le', and `fields { place = 'new' }` a table with short names. Which record a name belongs
// to follows from what stands before it, so that a name that its record does not have is refused, with its line.

import { jobFields, limitFields, queueFields } from '../src/redis/keys.ts'

type Names = Map<string, string>

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const namesOf = (fields: Record<string, readonly [short: string, ...unknown[]]>): Names =>
  new Map(Object.entries(fields).map(([name, [short]]) => [snake(name), short]))

// `gone` is a note of the script that deletes a job, and never written.
const job: Names = new Map([...namesOf(jobFields), ['gone', 'gone']])
const queue = namesOf(queueFields)
const limit = namesOf(limitFields)

const CALL = String.raw`\((?:[^()]|\([^()]*\))*\)`

/** What stands before a field: a job's record is called `doc` or `…_doc`, a queue's `queue_record`, a limit's `settings`. */
const records: { before: RegExp; names: Names; of: string }[] = [
  { before: /(?<!\w)(doc|\w+_doc)\.(\w+)/g, names: job, of: 'a job' },
  { before: new RegExp(String.raw`(?<![\w.])(queue_record|queue${CALL})\.(\w+)`, 'g'), names: queue, of: 'a queue' },
  { before: /(?<!\w)(settings)\.(\w+)/g, names: limit, of: 'a limit' },
]

const tables: Record<string, { names: Names; of: string }> = {
  fields: { names: job, of: 'a job' },
  queue_fields: { names: queue, of: 'a queue' },
  limit_fields: { names: limit, of: 'a limit' },
}

/** Where the brace closes that opens at `from`. */
function closing(text: string, from: number): number {
  for (let at = from, depth = 0; at < text.length; at++) {
    if (text[at] === '{') depth++
    else if (text[at] === '}' && --depth === 0) return at
  }
  throw new Error('a brace is never closed')
}

/**
 * Puts the short names into the source of a script or of one of its libs; comments have been taken out.
 *
 * @example shortenFields('lib/run/finish.lua', "change(id, doc, fields.lease_until, doc.token)") // "change(id, doc, 'le', doc.tk)"
 */
export function shortenFields(file: string, source: string): string {
  const short = (names: Names, of: string, name: string, text: string, at: number): string => {
    const found = names.get(name)
    if (found !== undefined) return found
    const line = text.slice(0, at).split('\n').length
    throw new Error(`${file}:${line}: expected a field of ${of} (src/redis/keys.ts), got ${name}`)
  }
  let text = source
  for (const { before, names, of } of records)
    text = text.replace(before, (_, record, name, at) => `${record}.${short(names, of, name, text, at)}`)
  text = text.replace(/(?<![\w.])(fields|queue_fields|limit_fields)\.(\w+)/g, (_, table: string, name, at) => {
    const { names, of } = tables[table]!
    return `'${short(names, of, name, text, at)}'`
  })
  for (;;) {
    const found = /(?<![\w.])(fields|queue_fields|limit_fields) \{/.exec(text)
    if (!found) return text
    const { names, of } = tables[found[1]!]!
    const open = found.index + found[0].length - 1
    const close = closing(text, open)
    const inner = text.slice(open, close).replace(/([{,] *)(\w+)(?= = )/g, (_, start, name) => {
      return start + short(names, of, name, text, open)
    })
    text = text.slice(0, found.index) + inner + text.slice(close)
  }
}

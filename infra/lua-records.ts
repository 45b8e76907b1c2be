// Records have long field names in the sources of scripts and short ones in Redis: `doc.lease_until` becomes `doc.le`,
// `fields.lease_until` the text 'le', and `fields { place = 'new' }` a table with short names. Which record a name belongs
// to follows from what stands before it, so that a name that its record does not have is refused, with its line. Tables
// that scripts make for themselves, and look into in many places, are treated alike: they make the scripts shorter.

import { dayFields, jobFields, laneFields, limitFields, queueFields } from '../src/redis/keys.ts'
import { snake } from './lua-names.ts'

type Names = Map<string, string>

const namesOf = (fields: Record<string, readonly [short: string, ...unknown[]]>): Names =>
  new Map(Object.entries(fields).map(([name, [short]]) => [snake(name), short]))

// `gone` is a note of the script that deletes a job, and never written.
const job: Names = new Map([...namesOf(jobFields), ['gone', 'gone']])

/** What a script is about to write, by kinds; what it knows of a limit. */
const written: Names = new Map(
  Object.entries({
    strings: 's',
    expiring: 'x',
    expires: 'p',
    trims: 't',
    dels: 'd',
    zsets: 'z',
    hashes: 'h',
    sets: 'e',
    lists: 'l',
    log: 'o',
    messages: 'm',
    records: 'r',
  }),
)
/** What a claim has got so far. */
const lending: Names = new Map(
  Object.entries({
    key: 'k',
    ids: 'i',
    n: 'n',
    failed: 'f',
    bytes: 'b',
    calling: 'g',
    called: 'c',
    fresh_first: 'e',
    passed: 'p',
    room: 'r',
  }),
)
const limitState: Names = new Map([
  ['settings', 's'],
  ['key', 'key'],
  ['held', 'held'],
  ['started', 'started'],
])

const CALL = String.raw`\((?:[^()]|\([^()]*\))*\)`

type Kept = { of: string; names: Names; called: string; table: string }

/** Records: what they are called where a field is read, and the word before a table of their fields. */
const records: Kept[] = [
  {
    of: 'a job (src/redis/keys.ts)',
    names: job,
    called: String.raw`doc|\w+_doc|(?:find|need)${CALL}`,
    table: 'fields',
  },
  {
    of: 'a queue (src/redis/keys.ts)',
    names: namesOf(queueFields),
    called: String.raw`(?<!\.)(?:queue_record|queue${CALL})|cache\.queue${CALL}`,
    table: 'queue_fields',
  },
  { of: 'a limit (src/redis/keys.ts)', names: namesOf(limitFields), called: 'settings', table: 'limit_fields' },
  { of: 'a lane (src/redis/keys.ts)', names: namesOf(laneFields), called: 'lane_record', table: 'lane_fields' },
  {
    of: 'what is known of a limit (infra/lua-records.ts)',
    names: limitState,
    called: String.raw`(?<!\.)(?:state|limits\.at${CALL})`,
    table: 'limit_state',
  },
  { of: 'what is written (infra/lua-records.ts)', names: written, called: 'writes', table: 'write_lists' },
  { of: 'what a claim has got (infra/lua-records.ts)', names: lending, called: 'got', table: 'claim_state' },
  { of: 'a day (src/redis/keys.ts)', names: namesOf(dayFields), called: 'day_record', table: 'day_fields' },
]
const reads = records.map(({ called, ...record }) => ({
  ...record,
  before: new RegExp(String.raw`(?<!\w)(${called})\.(\w+)`, 'g'),
}))
const tables = new Map(records.map(({ table, ...record }) => [table, record]))
const TABLE = records.map(({ table }) => table).join('|')
const oneField = new RegExp(String.raw`(?<![\w.])(${TABLE})\.(\w+)`, 'g')
const ofFields = new RegExp(String.raw`(?<![\w.])(${TABLE}) \{`)

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
    throw new Error(`${file}:${line}: expected a field of ${of}, got ${name}`)
  }
  let text = source
  for (const { before, names, of } of reads)
    text = text.replace(before, (_, record, name, at) => `${record}.${short(names, of, name, text, at)}`)
  text = text.replace(oneField, (_, table: string, name, at) => {
    const { names, of } = tables.get(table)!
    return `'${short(names, of, name, text, at)}'`
  })
  for (;;) {
    const found = ofFields.exec(text)
    if (!found) return text
    const { names, of } = tables.get(found[1]!)!
    const open = found.index + found[0].length - 1
    const close = closing(text, open)
    const inner = text.slice(open, close).replace(/([{,] *)(\w+)(?= = )/g, (_, start, name) => {
      return start + short(names, of, name, text, open)
    })
    text = text.slice(0, found.index) + inner + text.slice(close)
  }
}

// A new job stores the parameter `data` as received. All later changes remove white space. Bedrock's own members
// (retryAfterCount, originalNextRun, mockRequest) are never stored, and appear only in responses.

import { CLOSED, each, maps, parseJson } from '../../core/codec/json.ts'
import type { Encoded } from '../../core/codec/value.ts'
import { refusals } from './refusal.ts'

const OURS = ['retryAfterCount', 'originalNextRun', 'mockRequest']

type Members = Map<string, Encoded>

const isObject = (text: string): boolean => text.startsWith('{')

const membersOf = (text: string): Members | undefined => {
  try {
    const read = parseJson(text, each(CLOSED), { builder: maps })
    return read instanceof Map ? read : undefined
  } catch {
    return undefined
  }
}

const written = (members: Members): Encoded =>
  `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`

// Clients of Bedrock escape line breaks in headers.
const unescaped = (text: string): string =>
  text.replace(/\\([rnt])/g, (_, letter: string) => ({ r: '\r', n: '\n', t: '\t' })[letter]!)

const minified = (text: string): string => text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, '$1')

/** The text stays unchanged unless it has one of Bedrock's own members. */
export const readData = (text: string): { own: Encoded; ends: boolean; mocked: boolean } => {
  const given = [text.trim(), unescaped(text.trim())].find((one) => membersOf(one))
  const members = given === undefined ? undefined : membersOf(given)
  if (!members) throw refusals.badData()
  const [ends, mocked] = ['delete', 'mockRequest'].map((name) => isTrue(members.get(name))) as [boolean, boolean]
  const hasOurs = OURS.some((name) => members.has(name))
  for (const name of OURS) members.delete(name)
  return { own: hasOurs ? written(members) : given!, ends, mocked }
}

export const readCompact = (text: string): ReturnType<typeof readData> => {
  const read = readData(text)
  return { ...read, own: minified(read.own) }
}

const isTrue = (value: Encoded | undefined): boolean => value === 'true' || value === '"true"'

/** @example withMembers('{"a":1}', { b: 2 }) // '{"a":1,"b":2}' */
export const withMembers = (own: Encoded, added: Record<string, unknown>): Encoded => {
  const more = Object.entries(added).filter(([, value]) => value !== undefined)
  if (more.length === 0) return own
  const open = own.slice(0, own.lastIndexOf('}')).trimEnd()
  const text = more.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')
  return `${open}${open.endsWith('{') ? '' : ','}${text}}`
}

/** RFC 7396. */
export const mergePatch = (old: Encoded, patch: Encoded): Encoded => minified(merged(old, patch, 0))

/** Each level parses its text again, so values below this depth are replaced as a whole. */
const DEPTH = 32

function merged(old: Encoded, patch: Encoded, depth: number): Encoded {
  if (!isObject(patch) || depth === DEPTH) return patch
  const members: Members = (isObject(old) && membersOf(old)) || new Map()
  for (const [name, value] of membersOf(patch)!) {
    if (value === 'null') members.delete(name)
    else members.set(name, merged(members.get(name) ?? 'null', value, depth + 1))
  }
  return written(members)
}

// Runs that read all their waiting values can end together: see lib/run/packed.lua.

import type { Words } from './ops.ts'
import { isBig } from './packed-jobs.ts'

const NAME = /^\w{1,100}$/

export type Ported = { shape: string; fields: Words; written: ReadonlyMap<string, readonly string[]> }

const readFields = (port: string, count: string): Words => [
  `"i:${port}":"${count},0"`,
  `"i:${port}":"${count},${count}"`,
]
const writtenFields = (port: string, count: number): Words => [`"o:${port}":"0,0"`, `"o:${port}":"${count},0"`]

type Reader = { words: Words; at: number; fields: Words; written: Map<string, string[]> }

function takeRead(reader: Reader): boolean {
  const [, target, side, port, cursor, count] = reader.words.slice(reader.at, reader.at + 6)
  if (target !== '' || side !== 'i' || cursor !== '0' || !NAME.test(port!)) return false
  if (count !== '0') reader.fields.push(...readFields(port!, count!))
  reader.at += 6
  return true
}

function takeWrite(reader: Reader): boolean {
  const { words, at, written } = reader
  const [, target, side, port, how, count] = words.slice(at, at + 6)
  if (target !== '' || side !== 'o' || (how !== '' && how !== 'q') || !NAME.test(port!)) return false
  const items = words.slice(at + 6, at + 6 + Number(count))
  written.set(port!, [...(written.get(port!) ?? []), ...items])
  reader.at += 6 + items.length
  return true
}

export function portedBy(words: Words): Ported | undefined {
  const reader: Reader = { words, at: 0, fields: [], written: new Map() }
  // These words change no port. They set what the run may reach, and when it is retried if it is refused.
  while (words[reader.at] === 'reach' || words[reader.at] === 'retry') reader.at += 2
  while (reader.at < words.length) {
    const word = words[reader.at]
    const isTaken = word === 'consume' ? takeRead(reader) : word === 'write' && takeWrite(reader)
    if (!isTaken) return undefined
  }
  const { fields, written } = reader
  for (const [port, items] of written) {
    if (isBig(items.join(''))) return undefined
    fields.push(...writtenFields(port, items.length))
  }
  return { shape: fields.join(), fields, written }
}

export function portWords(ported: readonly (Ported | undefined)[]): Words {
  const one = ported.find((each) => each !== undefined)!
  const lists = [...one.written.keys()].map((port) => {
    const texts = Array.from(ported, (each) => (each ? JSON.stringify(each.written.get(port)) : ''))
    return [`vo:${port}`, texts]
  })
  const own = lists.length > 0 ? JSON.stringify(Object.fromEntries(lists)) : ''
  return [String(one.fields.length / 2), ...one.fields, own]
}

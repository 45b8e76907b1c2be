// Edits the text of TOML, to keep comments and layout.

import { UsageError } from '../../command.ts'

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

function partOf(text: string, table: string | undefined): { from: number; to: number } | undefined {
  const headers = [...text.matchAll(/^[ \t]*\[{1,2}([^\]]+)\]{1,2}[^\n]*\n?/gm)]
  const ends = [...headers.map(({ index }) => index), text.length]
  if (table === undefined) return { from: 0, to: ends[0]! }
  const inline = new RegExp(`^[ \\t]*${escaped(table)}[ \\t]*[=.]`, 'm').exec(text.slice(0, ends[0]))
  if (inline)
    throw new UsageError(
      `wrangler.toml: expected a table [${table}], got: ${text.slice(inline.index).trim().split('\n')[0]}`,
    )
  const at = headers.findIndex(([, name]) => name!.trim() === table)
  if (at < 0) return undefined
  return { from: headers[at]!.index + headers[at]![0].length, to: ends[at + 1]! }
}

function withLine(text: string, table: string | undefined, line: string): string {
  const part = partOf(text, table)
  if (!part) return `${text.trimEnd()}\n\n[${table}]\n${line}\n`
  const before = text.slice(0, part.to).trimEnd()
  return `${before}${before && '\n'}${line}\n${text.slice(before.length).replace(/^\n/, '')}`
}

export function withTomlItem(text: string, table: string | undefined, key: string, item: string): string {
  const part = partOf(text, table) ?? { from: 0, to: 0 }
  const body = text.slice(part.from, part.to)
  const list = new RegExp(`^[ \\t]*${escaped(key)}[ \\t]*=[ \\t]*\\[([^\\]]*)\\]`, 'm').exec(body)
  if (!list) return withLine(text, table, `${key} = [${JSON.stringify(item)}]`)
  const items = list[1]!
  if (items.includes(JSON.stringify(item)) || items.includes(`'${item}'`)) return text
  const kept = items.trimEnd().replace(/,$/, '')
  const space = /\n([ \t]*)\S/.exec(items)
  const added = kept.trim() ? `${kept},${space ? `\n${space[1]}` : ' '}${JSON.stringify(item)}` : JSON.stringify(item)
  const closing = space ? `${items.trim().endsWith(',') ? ',' : ''}\n` : ''
  const at = part.from + list.index + list[0].length - 1 - items.length
  return text.slice(0, at) + added + closing + text.slice(at + items.length)
}

export function withTomlMember(text: string, table: string, key: string, value: boolean | string): string {
  const part = partOf(text, table)
  const isSet = part && new RegExp(`^[ \\t]*${escaped(key)}[ \\t]*=`, 'm').test(text.slice(part.from, part.to))
  return isSet ? text : withLine(text, table, `${key} = ${JSON.stringify(value)}`)
}

export const tomlText = (text: string, key: string): string | undefined =>
  new RegExp(`^[ \\t]*${escaped(key)}[ \\t]*=[ \\t]*["']([^"'\\n]*)["']`, 'm').exec(
    text.slice(0, partOf(text, undefined)!.to),
  )?.[1]

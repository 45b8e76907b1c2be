import { toBase64 } from './base64.ts'

export abstract class Raw {
  abstract json(): string
  abstract msgpack(): Uint8Array
}

export const writeJson = (tree: unknown): string => (isPlain(tree) ? JSON.stringify(tree) : written(tree)) ?? 'null'

const plain = new Set(['string', 'boolean', 'undefined'])

/** JSON.stringify writes the same text for these values, five times as fast. */
const isPlain = (value: unknown): boolean => {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0)
  if (typeof value !== 'object' || value === null) return plain.has(typeof value) || value === null
  if (Array.isArray(value)) return value.every(isPlain)
  if (Object.getPrototypeOf(value) !== Object.prototype || 'toJSON' in value) return false
  for (const name in value) if (!isPlain((value as Record<string, unknown>)[name])) return false
  return true
}

const written = (tree: unknown): string => {
  if (typeof tree === 'number') return number(tree)
  if (typeof tree === 'bigint') return integer(tree)
  if (typeof tree === 'object' && tree !== null) return object(tree)
  return JSON.stringify(tree) ?? 'null'
}

const number = (value: number): string => {
  if (!Number.isFinite(value)) return `{"$float":"${value}"}`
  return Object.is(value, -0) ? '-0' : String(value)
}

const integer = (value: bigint): string => (Number.isSafeInteger(Number(value)) ? String(value) : `{"$int":"${value}"}`)

const object = (tree: object): string => {
  if (tree instanceof Raw) return tree.json()
  if (Array.isArray(tree)) return `[${tree.map(written).join(',')}]`
  if (tree instanceof Uint8Array) return `{"$bin":"${toBase64(tree)}"}`
  if (tree instanceof Map) return members(tree)
  if ('toJSON' in tree && typeof tree.toJSON === 'function') return written(tree.toJSON())
  return ownMembers(tree as Record<string, unknown>)
}

const ownMembers = (tree: Record<string, unknown>): string => {
  let text = ''
  for (const name in tree) {
    const value = tree[name]
    if (value !== undefined && Object.hasOwn(tree, name)) text += `${text ? ',' : ''}${quoted(name)}:${written(value)}`
  }
  return `{${text}}`
}

const members = (entries: Iterable<[string, unknown]>): string => {
  let text = ''
  for (const [name, value] of entries) {
    if (value !== undefined) text += `${text ? ',' : ''}${quoted(name)}:${written(value)}`
  }
  return `{${text}}`
}

const PLAIN_NAME = /^\w*$/
const quoted = (name: string): string => (PLAIN_NAME.test(name) ? `"${name}"` : JSON.stringify(name))

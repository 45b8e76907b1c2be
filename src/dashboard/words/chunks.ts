// Splits a page into chunks. A refresh sends only the chunks that changed.

/** A chunk begins at a part that can change independently. */
const STARTS = /(?=<(?:section|article|header|form|dl|li|tr|svg|datalist)\b)/

/** Maximum chunks: their names must fit in a header. */
const MOST = 600

/** Times change with every refresh. */
export const withoutTimes = (html: string): string => html.replace(/(<time[^>]*>)[^<]*/g, '$1')

/** Below 2^48, so that each step of the hash is exact. */
const PRIME = 281474976710597

/** A fast hash. Not for secrets. */
function nameOf(chunk: string): string {
  let hash = 0
  for (const char of withoutTimes(chunk)) hash = (hash * 31 + char.codePointAt(0)!) % PRIME
  return hash.toString(36)
}

export type Chunk = [name: string, html: string]

export type Patch = (Chunk | number)[]

/**
 * @example patchOf('<b>1<li>2<li>4', '1a 1b 1c') // [0, 1, ['1x2', '<li>4']]
 */
export function patchOf(html: string, names: string): Patch | undefined {
  const known = new Map(names.split(' ').map((name, i) => [name, i]))
  const chunks = html.split(STARTS)
  if (chunks.length > MOST) return undefined
  return chunks.map((chunk) => {
    const name = nameOf(chunk)
    return known.get(name) ?? [name, chunk]
  })
}

export const patched = (known: readonly Chunk[], patch: Patch): Chunk[] =>
  patch.map((part) => (typeof part === 'number' ? known[part]! : part))

export const namesIn = (chunks: readonly Chunk[]): string => chunks.map(([name]) => name).join(' ')

export const htmlOf = (chunks: readonly Chunk[]): string => chunks.map(([, html]) => html).join('')

// A page in chunks. A refresh sends only the changed chunks.

/** A chunk begins at a part that changes by itself: a card, a row, an item of a list, a drawing. */
const STARTS = /(?=<(?:section|article|header|form|dl|li|tr|svg)\b)/

/** Browsers and servers refuse long headers. */
const MOST = 600

/** HTML without the text of times, which changes with every look. */
export const withoutTimes = (html: string): string => html.replace(/(<time[^>]*>)[^<]*/g, '$1')

/** A hash of 64 bits; not for secrets. */
function hashOf(text: string): string {
  let [a, b] = [1, 2]
  for (let i = 0; i < text.length; i++) {
    a = Math.imul(a ^ text.charCodeAt(i), 2654435761)
    b = Math.imul(b ^ text.charCodeAt(i), 1597334677) + 1
  }
  return (a >>> 0).toString(36) + (b >>> 0).toString(36)
}

const chunksOf = (html: string): string[] => html.split(STARTS)

/** The names of the chunks of a page, for a header; undefined if there are too many. */
export function chunkNames(html: string): string | undefined {
  const chunks = chunksOf(html)
  return chunks.length > MOST ? undefined : chunks.map((chunk) => hashOf(withoutTimes(chunk))).join(' ')
}

/** A page as runs of chunks of an earlier version, each with its first chunk and their number, and as new text. */
export type Patch = (string | [from: number, n: number])[]

/** @example patchOf('<b>1<li>2<li>4', chunkNames('<b>1<li>2<li>3')!) // [[0, 2], '<li>4'] */
export function patchOf(html: string, names: string): Patch {
  const known = new Map(names.split(' ').map((name, i) => [name, i]))
  const patch: Patch = []
  for (const chunk of chunksOf(html)) {
    const at = known.get(hashOf(withoutTimes(chunk)))
    const last = patch.at(-1)
    if (at === undefined) {
      if (typeof last === 'string') patch[patch.length - 1] = last + chunk
      else patch.push(chunk)
    } else if (Array.isArray(last) && last[0] + last[1] === at) last[1]++
    else patch.push([at, 1])
  }
  return patch
}

/** The page of a patch; `html` is the earlier version. */
export function patched(html: string, patch: Patch): string {
  const chunks = chunksOf(html)
  return patch
    .map((part) => (typeof part === 'string' ? part : chunks.slice(part[0], part[0] + part[1]).join('')))
    .join('')
}

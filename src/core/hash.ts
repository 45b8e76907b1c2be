/** Similar strings may have similar hashes (FNV-1a). */
export function fnv32(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}

/** The final mix of MurmurHash3 makes similar strings differ in all bits. */
function hash32(text: string): number {
  let hash = fnv32(text)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

export const hexHash = (text: string, words: number): string =>
  Array.from({ length: words }, (_, i) => hash32(`${i} ${text} ${i}`).toString(16).padStart(8, '0')).join('')

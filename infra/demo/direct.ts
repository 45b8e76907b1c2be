import type { Text } from './texts.ts'

/** Counts words without jobs, to compare with the demo. */
export function directCount(texts: Text[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { text } of texts)
    for (const word of text.toLowerCase().split(/[^\p{L}\p{N}]+/u))
      if (word) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

export function differences(total: Record<string, number>, direct: Map<string, number>): string[] {
  const words = new Set([...Object.keys(total), ...direct.keys()])
  return [...words].filter((word) => total[word] !== direct.get(word))
}

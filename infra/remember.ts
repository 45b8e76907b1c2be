// Maximum number of results. Hundreds of builds that differ in one file parse only that file.

const MOST = 4_000

/**
 * Memoizes a function of a text.
 *
 * @example const lengthOf = remember((text) => text.length)
 */
export function remember<T>(compute: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    if (known.size >= MOST) known.clear()
    const value = compute(text)
    known.set(text, value)
    return value
  }
}

// Reads what Redis keeps. A record that is damaged stops its own job, key or view, and no other.

/**
 * Returns the result of `read`, or undefined if it throws.
 *
 * @example readable(() => JSON.parse('{broken')) // undefined
 */
export function readable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** A JSON object, or undefined. @example readObject('{"a":1}') // { a: 1 } */
export function readObject<T extends object>(text: string | null | undefined): T | undefined {
  if (!text) return undefined
  const value: unknown = readable(() => JSON.parse(text))
  return typeof value === 'object' && value !== null ? (value as T) : undefined
}

/** Returns the texts of a JSON list; an empty list if the text is damaged. @example readList('["a"]') // ['a'] */
export function readList(text: string | null | undefined): string[] {
  const value = readObject<unknown[]>(text)
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

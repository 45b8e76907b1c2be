// Reads records of Redis. A damaged record stops its own job, key or view, and nothing else.

/**
 * Undefined if `read` throws.
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

/** @example readObject('{"a":1}') // { a: 1 } */
export function readObject<T extends object>(text: string | null | undefined): T | undefined {
  if (!text) return undefined
  const value: unknown = readable(() => JSON.parse(text))
  return typeof value === 'object' && value !== null ? (value as T) : undefined
}

/** Empty if the text is damaged. @example readList('["a"]') // ['a'] */
export function readList(text: string | null | undefined): string[] {
  const value = readObject<unknown[]>(text)
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

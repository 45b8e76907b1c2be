export function tryRead<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

export function readObject<T extends object>(text: string | null | undefined): T | undefined {
  if (!text) return undefined
  const value: unknown = tryRead(() => JSON.parse(text))
  return typeof value === 'object' && value !== null ? (value as T) : undefined
}

export function readList(text: string | null | undefined): string[] {
  const value = readObject<unknown[]>(text)
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

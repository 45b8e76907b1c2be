// Limits the size of results: the product of several lists could fill the memory of an isolate.

import { SidejobError } from '../src/index.ts'

const MAX_ELEMENTS = 100_000
export const MAX_BYTES = 1_048_576

export const tooLarge = (got: string): SidejobError =>
  new SidejobError(
    'TOO_LARGE',
    `expected a value of at most ${MAX_BYTES} bytes and ${MAX_ELEMENTS} elements, got ${got}`,
  )

export function checkRoom({ elements = 0, bytes = 0 }: { elements?: number; bytes?: number }): void {
  if (elements > MAX_ELEMENTS) throw tooLarge(`${elements} elements`)
  if (bytes > MAX_BYTES) throw tooLarge(`at least ${bytes} bytes`)
}

/** Returns the minimum bytes of a value and its comma in a JSON list. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 3
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + sizeOf(one), 3)
  if (value instanceof Uint8Array) return value.length
  if (typeof value !== 'object' || value === null) return String(value).length + 1
  return Object.entries(value).reduce((sum, [name, one]) => sum + name.length + 3 + sizeOf(one), 3)
}

// API keys: made at random, kept as hashes, compared in constant time.

const encoder = new TextEncoder()

export async function hashOf(key: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(key)))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Compares two hashes without telling by its time where they differ. */
export function sameHash(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i % Math.max(1, b.length))
  return difference === 0
}

export const newKey = (): string =>
  `sj_${crypto.randomUUID().replaceAll('-', '')}${crypto.randomUUID().replaceAll('-', '').slice(0, 12)}`

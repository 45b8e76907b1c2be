import { brotliDecompressSync } from 'node:zlib'
import { fromBase64 } from './base64.ts'

export function unpacking<P, T>(packed: string, read: (parsed: P) => T): () => T {
  let value: T | undefined
  return () => {
    value ??= read(JSON.parse(new TextDecoder().decode(brotliDecompressSync(fromBase64(packed)))) as P)
    return value
  }
}

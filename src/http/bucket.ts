// Each isolate counts separately.

import { Lru } from '../core/lru.ts'

/** Tokens per second. */
export type Pace = { rate: number; burst: number }

type Bucket = { left: number; at: number }

/** The returned function takes tokens, and returns 0 or the seconds until the bucket has enough tokens. */
export function buckets(names: number, now: () => number) {
  const known = new Lru<string, Bucket>(names)
  return (name: string, { rate, burst }: Pace, n = 1): number => {
    const { left, at } = known.get(name) ?? { left: burst, at: now() }
    const filled = Math.min(burst, left + (Math.max(0, now() - at) * rate) / 1000)
    const isEnough = filled >= n
    known.set(name, { left: isEnough ? filled - n : filled, at: now() })
    return isEnough ? 0 : (n - filled) / rate
  }
}

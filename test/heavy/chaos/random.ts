export type Random = ReturnType<typeof seeded>

export function seeded(seed: number) {
  let state = seed | 0

  function next(): number {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }

  const int = (n: number): number => Math.floor(next() * n)

  function weighted<T extends { weight: number }>(table: readonly T[]): T {
    let left = next() * table.reduce((sum, { weight }) => sum + weight, 0)
    return table.find(({ weight }) => (left -= weight) < 0) ?? table.at(-1)!
  }

  return {
    next,
    int,
    between: (from: number, to: number): number => from + next() * (to - from),
    chance: (p: number): boolean => next() < p,
    pick: <T>(list: readonly T[]): T => list[int(list.length)]!,
    weighted,
    /** Has the format of random text in src/redis: 12 hex digits. */
    text: (): string => [0, 1].map(() => int(0x1000000).toString(16).padStart(6, '0')).join(''),
  }
}

// Waiting times of runs before they began: counts in buckets, as stored for each day.

/** The upper ends of the buckets, in milliseconds; the last has none. lib/queue/counts.lua counts by the same. */
export const waitEnds = [10, 100, 1_000, 5_000, 30_000, 60_000, 600_000, 3_600_000, Number.POSITIVE_INFINITY] as const

/**
 * The end of the bucket below which a share of all runs waited; undefined without runs. @example waitBelow([9, 1], 0.5)
 * // 10
 */
export function waitBelow(
  buckets: readonly number[],
  share: number,
  ends: readonly number[] = waitEnds,
): number | undefined {
  const all = buckets.reduce((a, b) => a + b, 0)
  if (all === 0) return undefined
  let sum = 0
  const i = buckets.findIndex((n) => (sum += n) >= share * all)
  return Number.isFinite(ends[i]!) ? ends[i]! : ends[ends.length - 2]!
}

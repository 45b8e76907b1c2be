/** Upper bounds of the buckets in milliseconds, as in lib/queue/counts.lua. */
export const waitBucketEnds = [
  10,
  100,
  1_000,
  5_000,
  30_000,
  60_000,
  600_000,
  3_600_000,
  Number.POSITIVE_INFINITY,
] as const

export const sumOf = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)

export function waitPercentile(
  buckets: readonly number[],
  share: number,
  ends: readonly number[] = waitBucketEnds,
): number | undefined {
  const all = sumOf(buckets)
  if (all === 0) return undefined
  let sum = 0
  const i = buckets.findIndex((n) => (sum += n) >= share * all)
  return Number.isFinite(ends[i]!) ? ends[i]! : ends[ends.length - 2]!
}

// How long the runs of a class take here. What one took longer than is usual it may have stood still, in a busy isolate or
// on its way, before it reached its target: a rate counts it from so much later.

const MOST = 75
/** By so much a class may become slower from batch to batch and still be as usual. */
const SLOWER = 1.1

type Pace = { asked: number; least: number; usual: number }

/**
 * Remembers the fastest run of each batch. Those of one batch say nothing about each other: they stand still together.
 *
 * @example const pace = createPace(); pace.excess('queue/class', asked, elapsed() - asked) // 0 … 75 ms
 */
export function createRunTimes() {
  const paces = new Map<string, Pace>()

  function usualBefore({ least, usual }: Pace): number {
    return usual === 0 ? least : Math.min(least, usual * SLOWER)
  }

  return {
    /** How much longer than usual a run took whose batch was asked for then; nothing is usual yet for the first batch. */
    excess(name: string, asked: number, took: number): number {
      let pace = paces.get(name)
      if (!pace || asked > pace.asked) {
        pace = { asked, least: took, usual: pace ? usualBefore(pace) : 0 }
        paces.set(name, pace)
      }
      pace.least = Math.min(pace.least, took)
      return Math.min(MOST, Math.max(0, took - pace.usual))
    },
  }
}

// A longer run may have waited in a busy isolate before it reached its target, so a rate counts it from a later time.

const MOST = 75
/** A class may slow down by this factor from batch to batch and still count as usual. */
const SLOWER = 1.1

type Pace = { asked: number; least: number; usual: number }

/** Runs of one batch wait together, so only the fastest run counts. */
export function createRunTimes() {
  const paces = new Map<string, Pace>()

  function usualBefore({ least, usual }: Pace): number {
    return usual === 0 ? least : Math.min(least, usual * SLOWER)
  }

  return {
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

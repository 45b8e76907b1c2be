// A run that takes longer than usual may have waited in a busy isolate before it reached the other service. A rate
// limit then counts the run from a later time.

const MOST = 75
/** A class may slow down by this factor from batch to batch before the excess counts. */
const SLOWER = 1.1

type Pace = { asked: number; least: number; usual: number }

/** The runs of a batch wait together, so the fastest run measures the usual time. */
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

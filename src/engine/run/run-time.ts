// In a busy isolate, a run may send its request late. So if a run took longer than usual, a rate limit adds the extra
// time to the start of the run.

const MAX_EXCESS_MS = 75
const SLOWER = 1.1

type Pace = { asked: number; least: number; usual: number }

/** Most runs of a batch wait for other runs, so the fastest run shows the usual time. */
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
      return Math.min(MAX_EXCESS_MS, Math.max(0, took - pace.usual))
    },
  }
}

import { atLeast, atMost, defineShow, exactly, quantile, told } from './show.ts'
import { startSoak } from './stack.ts'

const sizes = { jobs: 100_000, seconds: 120, lead: 60 }

type Seen = { at: number; ranAt: number; endedAt: number }

export const timers = defineShow({
  title: 'jobs for later',
  sizes,
  async run({ jobs, seconds, lead }, say) {
    const soak = await startSoak()
    try {
      const first = Date.now() + lead * 1_000
      const moments = Array.from({ length: jobs }, () => Math.floor(first + Math.random() * seconds * 1_000))
      const ids = await soak.enqueue(moments.map((at) => ({ class: 'count_words', at: new Date(at).toISOString() })))
      if (Date.now() > first) throw new Error('the first moment came before all jobs were made: give a longer lead')
      say(`${jobs} jobs made, ${Math.round((first - Date.now()) / 1_000)} s before the first is due`)
      await soak.allCompleted(jobs, { say })
      const atOf = new Map(ids.map((id, i) => [id, moments[i]!]))
      const seen: Seen[] = (await soak.allJobs()).map(({ id, ranAt, endedAt }) => ({
        at: atOf.get(id)!,
        ranAt: Date.parse(ranAt as unknown as string),
        endedAt: Date.parse(endedAt as unknown as string),
      }))
      const late = seen.map(({ at, ranAt }) => ranAt - at)
      // A job ends with its commit, so its function ended earlier.
      const over = seen.map(({ at, endedAt }) => endedAt - at)
      return [
        exactly('jobs that ran', seen.length, jobs),
        atLeast('the earliest, after its moment', Math.min(...minMax(late)), 0, ' ms'),
        atMost('the latest, after its moment', Math.max(...minMax(late)), 1_500, ' ms'),
        told('lent after its moment, median', quantile(late, 0.5), ' ms'),
        told('lent after its moment, p99', quantile(late, 0.99), ' ms'),
        atMost('the latest end of a run, after its moment', Math.max(...minMax(over)), 1_500, ' ms'),
        exactly('faults in Redis', await soak.faults(), 0),
      ]
    } finally {
      await soak.close()
    }
  },
})

/** The list is too long for the arguments of Math.min. */
function minMax(values: readonly number[]): [number, number] {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of values) {
    least = Math.min(least, value)
    most = Math.max(most, value)
  }
  return [least, most]
}

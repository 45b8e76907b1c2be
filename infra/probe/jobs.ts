import { createClient } from '../../src/client/index.ts'
import { sleep } from '../../src/core/sleep.ts'
import type { Where } from '../../src/deploy/tick.ts'
import { is, type Question, unknown } from './verdict.ts'

type JobsPlace = Where & {
  key?: string
  /** Seconds. */
  delays?: readonly number[]
  maxWait?: number
  pause?: number
}

const CLASS = { class: 'placeholder', queue: 'core' } as const
const JOBS = 10
const DELAYS_S = [3, 10, 30] as const
const [PATIENCE_MS, PAUSE_MS] = [60_000, 100]
const [P50_MS, LATE_MS] = [2_000, 3_000]

const ABOUT = [`${JOBS} jobs in sequence, from the call to the end`, 'jobs with a delay'] as const

export function questionsOfJobs(place: JobsPlace) {
  const { key, delays = DELAYS_S, maxWait = PATIENCE_MS, pause = PAUSE_MS } = place
  const expected = [
    `the median below ${P50_MS / 1_000} s`,
    `each begins at most ${LATE_MS / 1_000} s after its time`,
  ] as const
  if (!key) {
    const why = 'set SIDEJOB_API_KEY, the key of the deployment, to run jobs'
    return { questions: ABOUT.map((about, i) => unknown(about, expected[i]!, why)), remove: async () => 0 }
  }
  const client = createClient({ url: place.publicUrl, key })
  const made: number[] = []

  async function make(runAt?: number): Promise<number> {
    const { id } = await client.jobs.enqueue({ ...CLASS, ...(runAt ? { at: new Date(runAt).toISOString() } : {}) })
    made.push(id)
    return id
  }

  async function ended(id: number, ms: number): Promise<number> {
    for (const end = Date.now() + ms; ; await sleep(pause)) {
      const { status, ranAt } = await client.jobs.get(id)
      if (['completed', 'suspended', 'failed', 'terminated'].includes(status)) return Date.parse(ranAt!)
      if (Date.now() > end) throw new Error(`job ${id} is ${status} after ${ms / 1_000} s`)
    }
  }

  const questions: Question[] = [
    {
      about: ABOUT[0],
      expected: expected[0],
      async ask() {
        const all: number[] = []
        for (let n = 0; n < JOBS; n++) {
          const from = Date.now()
          await ended(await make(), maxWait)
          all.push(Date.now() - from)
        }
        const sorted = all.toSorted((a, b) => a - b)
        const [p50, p99] = [sorted[JOBS >> 1]!, sorted.at(-1)!]
        return is(p50 < P50_MS, `p50 ${p50} ms, p99 ${p99} ms, the first ${all[0]} ms`)
      },
    },
    {
      about: ABOUT[1],
      expected: expected[1],
      async ask() {
        const late = await Promise.all(
          delays.map(async (delay) => {
            const runAt = Date.now() + delay * 1_000
            return (await ended(await make(runAt), delay * 1_000 + maxWait)) - runAt
          }),
        )
        const shown = delays.map((delay, i) => `${delay} s: ${late[i]} ms late`)
        return is(Math.max(...late) <= LATE_MS && Math.min(...late) >= 0, shown.join(', '))
      },
    },
  ]

  async function remove(): Promise<number> {
    for (const id of made) await client.jobs.remove(id, { force: true })
    const left = await Promise.all(made.map((id) => client.jobs.get(id).then(Boolean, () => false)))
    return left.filter(Boolean).length
  }

  return { questions, remove }
}

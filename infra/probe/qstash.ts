import { clientFor, tickUrl, type Where } from '../../src/deploy/tick.ts'
import { is, type Question, unknown } from './verdict.ts'

type QstashPlace = Where & {
  keys: { current: string; next: string }
  schedule: string
}

/** A yearly schedule, which does not fire during a probe. */
const SELDOM = '0 0 1 1 *'

export function questionsOfQstash(place: QstashPlace) {
  const client = clientFor(place)
  const base = (place.url ?? 'https://qstash.upstash.io').replace(/\/+$/, '')

  async function get<T>(path: string): Promise<T> {
    const response = await fetch(`${base}${path}`, {
      headers: { authorization: `Bearer ${place.token}` },
      signal: AbortSignal.timeout(30_000),
    })
    if (!response.ok) throw new Error(`GET ${path}: expected 200, got ${response.status}`)
    return (await response.json()) as T
  }

  const own = async () => (await client.schedules.list()).filter(({ scheduleId }) => scheduleId === place.schedule)

  const questions: Question[] = [
    {
      about: 'the signing keys of the Worker',
      expected: 'the signing keys of this QStash and region',
      async ask() {
        const { current, next } = await get<{ current: string; next: string }>('/v2/keys')
        const wrong = [
          current !== place.keys.current && 'QSTASH_CURRENT_SIGNING_KEY',
          next !== place.keys.next && 'QSTASH_NEXT_SIGNING_KEY',
        ].filter((name) => name !== false)
        return is(wrong.length === 0, wrong.length ? `different: ${wrong.join(', ')}` : 'the same')
      },
    },
    {
      about: 'concurrent deliveries of the account',
      expected: '10 or more: each lane holds one, and a queue has at most 8 lanes',
      async ask() {
        const { parallelismMax } = await get<{ parallelismMax: number | null }>('/v2/globalParallelism')
        // Without a limit, the maximum is Infinity, which JSON writes as null.
        return is((parallelismMax ?? Number.POSITIVE_INFINITY) >= 10, parallelismMax ? `${parallelismMax}` : 'no limit')
      },
    },
    {
      about: 'schedules that tick this Worker',
      expected: 'one, not paused',
      async ask() {
        const ours = (await client.schedules.list()).filter(
          ({ destination, scheduleId }) => destination === tickUrl(place.publicUrl) && scheduleId !== place.schedule,
        )
        const shown = ours.map(
          ({ scheduleId, cron, isPaused }) => `${scheduleId} (${cron}${isPaused ? ', paused' : ''})`,
        )
        return is(ours.length === 1 && !ours[0]!.isPaused, shown.join(', ') || 'none')
      },
    },
    {
      about: 'a schedule that is created again with the same id',
      expected: 'it replaces the previous schedule',
      async ask() {
        const schedule = { scheduleId: place.schedule, destination: tickUrl(place.publicUrl), method: 'POST' } as const
        await client.schedules.create({ ...schedule, cron: '0 0 2 1 *' })
        await client.schedules.create({ ...schedule, cron: SELDOM })
        const there = await own()
        return is(
          there.length === 1 && there[0]!.cron === SELDOM,
          there.map(({ cron }) => cron).join(' and ') || 'none',
        )
      },
    },
    unknown(
      'the maximum time that a delivery waits for the response',
      '15 minutes on Free, 2 hours on paid plans; a lane answers after 25 s and the longest run',
      'needs an invocation of 16 minutes: enqueue runs of 14 and of 16 minutes, and read QStash’s log',
    ),
  ]

  async function remove(): Promise<number> {
    for (const { scheduleId } of await own()) await client.schedules.delete(scheduleId)
    return (await own()).length
  }

  return { questions, remove }
}

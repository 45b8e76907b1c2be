import { classCountsOf, classHoursOf } from '../../core/class-counts.ts'
import { keptSteps, pointsOf, sumSeries } from '../../core/series.ts'
import type { ClassesQuery, Series, SeriesQuery } from '../../core/stats.ts'
import { DAY, HOUR, MINUTE } from '../../core/units.ts'
import type { DayRecord } from '../../redis/record.ts'
import type { QueueRow } from '../../redis/types.ts'
import type { Context } from '../context.ts'
import type { Stats } from '../engine.ts'
import { viewOf } from './queues.ts'

const STEPS = { minute: MINUTE, hour: HOUR } as const
const HOURS_BYTES = 4 * 1024 * 1024
export const MAX_STATS_QUEUES = 50

type Counts = Record<string, number>

const sum = (all: readonly Counts[]): Counts => {
  const total: Counts = {}
  for (const counts of all) for (const [name, n] of Object.entries(counts)) total[name] = (total[name] ?? 0) + n
  return total
}

const nameOf = (day: number): string => new Date(day * DAY).toISOString().slice(0, 10)

type Kept = Record<string, DayRecord>

function daysOf(kept: Map<number, Kept>, queues: readonly QueueRow[], days: readonly number[]): Stats['days'] {
  for (const { name, settings } of queues) {
    if (settings.day === undefined || !days.includes(settings.day)) continue
    const day = kept.get(settings.day) ?? {}
    kept.set(settings.day, { ...day, [name]: { counts: settings.counts ?? {}, waits: settings.dayWaits } })
  }
  return days.flatMap((day) => {
    const queues = kept.get(day)
    if (!queues) return []
    const own = Object.entries(queues).map(([name, { counts, waits }]) => [name, { counts, waits }])
    const counts = sum(Object.values(queues).map((day) => day.counts))
    return [{ day: nameOf(day), counts, queues: Object.fromEntries(own) }]
  })
}

const byName = <T>(queues: readonly QueueRow[], value: (settings: QueueRow['settings']) => T): Record<string, T> =>
  Object.fromEntries(queues.map(({ name, settings }) => [name, value(settings)]))

export function createStats({ store }: Context) {
  return {
    async totals({ days = 0 }: { days?: number } = {}): Promise<Stats> {
      const [{ queues, now }, { trouble }] = await Promise.all([store.overview(), store.systemState()])
      const today = Math.floor(now / DAY)
      const isToday = (settings: QueueRow['settings']) => settings.day === today
      const total = byName(queues, ({ counts = {}, earlierCounts = {} }) => sum([earlierCounts, counts]))
      const all = sum(Object.values(total))
      const asked = Array.from({ length: days }, (_, ago) => today - ago)
      const found = days > 0 ? await store.days(asked) : []
      const kept = new Map(found.flatMap((day, i) => (day ? [[asked[i]!, day] as const] : [])))
      return {
        queues: queues.map(viewOf),
        processed: all.runs ?? 0,
        failed: all.errors ?? 0,
        today: byName(queues, (settings) => (isToday(settings) ? (settings.counts ?? {}) : {})),
        waits: byName(queues, (settings) => (isToday(settings) ? (settings.dayWaits ?? []) : [])),
        total,
        days: days > 0 ? daysOf(kept, queues, asked) : undefined,
        bells: trouble ?? undefined,
      }
    },

    async series({ queue = '', step = 'minute', from = 0, to, details = false }: SeriesQuery): Promise<Series> {
      const ms = STEPS[step]
      const { rows, more, now } = await store.series(queue, step, MAX_STATS_QUEUES)
      const since = Math.max(Math.floor(now / ms) - keptSteps[step] + 1, Math.floor(from / ms)) * ms
      const byQueue = rows.map((row) => [row.queue, pointsOf(row, { step: ms, since, to })] as const)
      const points = sumSeries(byQueue.map(([, own]) => own))
      return { step, points, more, queues: details ? Object.fromEntries(byQueue) : undefined }
    },

    async classes({ queue = '', day: which = 'today', hours = false }: ClassesQuery) {
      const { queues, more, now } = await store.classes(queue, MAX_STATS_QUEUES, hours ? HOURS_BYTES : 0)
      const day = Math.floor(now / DAY) - (which === 'yesterday' ? 1 : 0)
      const since = (Math.floor(now / HOUR) - 23) * HOUR
      const classes = queues.flatMap(({ queue, texts, marks, hasHours }) => {
        const known = hasHours ? classHoursOf({ texts, marks }, { day, since }) : undefined
        return classCountsOf(texts, day).map((count) => ({
          queue,
          ...count,
          ...(known && { hours: known.get(count.class) ?? [] }),
        }))
      })
      return { day: nameOf(day), classes, more }
    },
  }
}

import type { Context } from '../context.ts'
import type { Glance } from '../engine.ts'
import { createHealth, type HealthParts } from './health.ts'
import { isGroup, waitedView } from './limits.ts'
import { createProcesses, MAX_RUNS } from './processes.ts'
import { createStats, MAX_STATS_QUEUES } from './stats.ts'

const MOST_LIMITS = 100

export function createGlance(context: Context, health: HealthParts) {
  return {
    async glance({ step }: { step?: 'minute' | 'hour' } = {}): Promise<Glance> {
      const most = { queues: MAX_STATS_QUEUES, limits: MOST_LIMITS, runs: MAX_RUNS }
      const asked = context.store.glance(step, most)
      const answered = {
        overview: async () => (await asked).overview,
        series: async () => (await asked).series,
        atWork: async () => (await asked).atWork,
        systemState: async () => (await asked).systemState,
      } satisfies Partial<Context['store']>
      const store = { ...context.store, ...answered }
      const seen = { ...context, store }
      const numbers = createStats(seen)
      const [stats, series, processes, how, { limits, hasSchedules, hasMutes }] = await Promise.all([
        numbers.totals(),
        step === undefined
          ? { step: 'minute' as const, points: [], more: false }
          : numbers.series({ step, details: true }),
        createProcesses(seen).list(),
        createHealth({ ...health, store }).health(),
        asked,
      ])
      const now = context.now()
      const atLimits = stats.queues.reduce((sum, { counts }) => sum + counts.limited, 0)
      const moreLimits = limits.reduce((left, { waiting }) => left - waiting, atLimits) > 0
      const bounds = limits.filter(({ key }) => !isGroup(key)).map((row) => waitedView(row, now))
      return { stats, series, limits: bounds, moreLimits, ...processes, health: how, hasSchedules, hasMutes }
    },
  }
}

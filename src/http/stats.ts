import * as z from 'zod'
import { classes, classesQuery, series, seriesQuery, stats as shown, statsQuery } from '../core/stats.ts'
import { metrics } from './metrics.ts'
import { route } from './route.ts'

/** Maximum numbers of limits and of groups in the metrics. Groups with the most waiting jobs come first. */
const [SEEN, MOST_GROUPS] = [1_000, 100]

export const stats = {
  show: route('GET /v1/stats', {
    scope: 'read',
    summary: 'Get statistics',
    description:
      'Returns the counts of jobs and runs of each queue for today. `days` adds the counts of each of the last days.',
    query: statsQuery,
    answers: { 200: shown },
    handle: ({ engine, query }) => engine.stats.totals(query),
  }),

  series: route('GET /v1/stats/series', {
    scope: 'read',
    summary: 'Get statistics by minute or hour',
    description: 'Returns counts for each of the last minutes or hours, oldest first.',
    query: seriesQuery,
    answers: { 200: series },
    handle: ({ engine, query }) => engine.stats.series(query),
  }),

  classes: route('GET /v1/stats/classes', {
    scope: 'read',
    summary: 'Get statistics by class',
    description: 'Returns the counts, waiting times and run times of each class.',
    query: classesQuery,
    answers: { 200: classes },
    handle: ({ engine, query }) => engine.stats.classes(query),
  }),

  metrics: route('GET /metrics', {
    scope: 'read',
    summary: 'Get metrics for Prometheus',
    description: 'Returns counters and gauges of queues, classes, limits and groups in the Prometheus text format.',
    answers: { 200: z.string() },
    media: 'text/plain',
    handle: async ({ engine }) => {
      const [stats, bounds, { classes }] = await Promise.all([
        engine.stats.totals(),
        engine.limits.withGroups(SEEN),
        engine.stats.classes({}),
      ])
      const groups = bounds.groups.sort((a, b) => b.waiting - a.waiting || b.jobs - a.jobs).slice(0, MOST_GROUPS)
      const text = metrics({ ...stats, classes, limits: bounds.limits, groups })
      return new Response(text, {
        headers: { 'content-type': 'text/plain; version=0.0.4', 'cache-control': 'no-store' },
      })
    },
  }),
}

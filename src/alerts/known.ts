import { deploysOf } from '../dashboard/words/deploy.ts'
import type { Known } from '../dashboard/words/need.ts'
import { IN_A_ROW } from '../dashboard/words/needs.ts'
import { failedIn } from '../dashboard/words/queue.ts'
import type { Stats } from '../engine/engine.ts'
import type { Engine } from '../engine/index.ts'

const MOST = 50

export async function knownOf(engine: Engine, now: number): Promise<Known & Pick<Stats, 'today'>> {
  const { stats, series, limits, health, hasSchedules } = await engine.stats.glance({ step: 'minute' })
  const failed = failedIn(stats)
  const [callbacks, schedules, kinds, classes, deployments, { breakers }] = await Promise.all([
    failed.callbacks ? engine.callbacks.list({ state: 'FAILED', limit: MOST }) : undefined,
    hasSchedules ? engine.schedules.list({ failing: true, inARow: IN_A_ROW, limit: MOST }) : undefined,
    failed.any ? engine.errors.list({ details: true }) : undefined,
    failed.any ? engine.stats.classes({ hours: true }) : undefined,
    failed.any ? engine.deployments.list() : undefined,
    engine.breakers.list(),
  ])
  return {
    now,
    queues: stats.queues,
    today: stats.today,
    limits,
    points: series.points,
    pointsByQueue: series.queues,
    classes: classes?.classes,
    deploys: deploysOf(deployments?.deployments ?? []),
    givenUp: callbacks?.callbacks ?? [],
    moreGivenUp: Boolean(callbacks?.cursor),
    schedules: schedules?.schedules ?? [],
    bells: stats.bells,
    restored: health.restored,
    examined: health.examined,
    tickAt: health.tickAt,
    breakers,
    kinds: kinds?.errors,
  }
}

import { deploysOf } from '../dashboard/words/deploy.ts'
import { type Known, knownFrom } from '../dashboard/words/need.ts'
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
  const known = knownFrom({
    ...{ now, stats, series, limits, health, callbacks, schedules, classes, breakers },
    deploys: deploysOf(deployments?.deployments ?? []),
    kinds: kinds?.errors,
  })
  return { ...known, today: stats.today }
}

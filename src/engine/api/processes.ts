import { SidejobError } from '../../core/errors.ts'
import type { Row, Signal } from '../../redis/answers.ts'
import { LANE_MARK } from '../../redis/store.ts'
import type { Context } from '../context.ts'
import type { CurrentRun, ProcessView } from '../engine.ts'
import { laneMarkOf } from '../run/job-facts.ts'

export const MAX_RUNS = 1_000
/** In milliseconds. */
const FORGOTTEN = 600_000
const LIVE = 60_000

type Run = Row<'run'>

export function createProcesses({ store, registry }: Context) {
  async function shown(runs: Run[]): Promise<(run: Run) => CurrentRun> {
    const find = await registry.finder(runs)
    return ({ token: _, process: __, ...run }) => {
      const { push, pull } = find(run)?.definition ?? {}
      return { ...run, by: push ? new URL(push.url).host : pull ? 'pull' : 'function' }
    }
  }

  return {
    async list() {
      const { lanes, processes, runs, more, now } = await store.atWork(MAX_RUNS)
      const show = await shown(runs)
      const left = new Set(runs)
      const take = (isIncluded: (run: Run) => boolean): CurrentRun[] =>
        [...left].filter(isIncluded).map((run) => {
          left.delete(run)
          return show(run)
        })
      const named = processes.map(({ name, since, seenAt, signal, queues }): ProcessView & { kind: 'pull' } => {
        const own = take(({ process }) => process === name)
        const live = own.length > 0 || now - seenAt < LIVE
        return { id: name, kind: 'pull', queues, startedAt: since, seenAt, live, signal, runs: own }
      })
      const serving = lanes.map(({ queue, lane, until }): ProcessView => {
        const own = take((run) => run.queue === queue && laneMarkOf(run.token) === lane.slice(0, LANE_MARK))
        return { id: lane, kind: 'lane', queues: [queue], until, runs: own }
      })
      const recent = named.filter(({ live, seenAt }) => live || now - seenAt < FORGOTTEN)
      const byId = (a: ProcessView, b: ProcessView) => (a.id < b.id ? -1 : 1)
      return { processes: [...recent.sort(byId), ...serving.sort(byId)], others: [...left].map(show), more }
    },

    /** The process receives the signal with its next claim or heartbeat. */
    async signal(process: string, signal: Signal | null) {
      if (await store.signal(process, signal)) return
      throw new SidejobError(
        'NOT_FOUND',
        `no pull worker named ${JSON.stringify(process)} has claimed jobs. If this is a lane, pause its queue instead`,
      )
    },
  }
}

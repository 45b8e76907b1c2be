import { answerOf } from '../answers.ts'
import type { Parts } from '../parts.ts'
import * as scripts from '../scripts.generated.ts'
import { limitRow } from './limits.ts'
import { atWorkOf } from './looks.ts'
import { queueRow } from './queues.ts'
import { standingKeys, standingOf } from './standing.ts'

type Most = { queues: number; limits: number; runs: number }

export function createGlance({ client: { evaluate }, keys, base }: Parts) {
  /** With `kind` '' only queues and limits. `hasMutes` is known if any job failed or `kind` is not ''. */
  async function glance(kind: 'm' | 'h' | '', most: Most) {
    const args = { ...base(), kind, most_queues: most.queues, most_limits: most.limits, most_runs: most.runs }
    const raw = await evaluate(scripts.glance, standingKeys(keys), args, [])
    const { texts, queues, counted, moreQueues, limits, there, ...found } = answerOf(raw, 'glance')
    const { lanes, processes, runs, moreRuns, now } = found
    return {
      overview: { queues: queues.map(queueRow), now },
      series: { rows: counted, more: moreQueues, now },
      limits: limits.map(limitRow),
      atWork: atWorkOf({ lanes, processes, runs, more: moreRuns, now }),
      standing: standingOf(texts.map((text) => text || null)),
      hasSchedules: there % 2 === 1,
      hasMutes: there >= 2,
    }
  }

  return { glance }
}

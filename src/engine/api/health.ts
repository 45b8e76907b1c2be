// How it stands with what we need: Redis and QStash.

import type { SidejobError } from '../../core/errors.ts'
import { examinedView } from '../../core/examined.ts'
import { remedies } from '../../core/remedies.ts'
import type { Client } from '../../redis/client.ts'
import type { Store } from '../../redis/store.ts'
import type { Engine, Health } from '../engine.ts'
import type { Bells } from '../lane/bells.ts'

export type HealthParts = { client: Client; store: Store; bells: Bells; version: string; isTenant: boolean }

type Standing = Partial<Awaited<ReturnType<Store['standing']>>> & { error?: SidejobError }
type Problem = NonNullable<Health['problems']>[number]
type Trouble = { why: string; refused: number }

const redisProblem = ({ code, message }: SidejobError): Problem => ({
  ...{ of: 'redis', code, message },
  remedy: remedies[code].remedy,
})

const bellsProblem = ({ why, refused }: Trouble): Problem => ({
  ...{ of: 'qstash', code: 'UNAVAILABLE', message: why, inARow: refused },
  remedy:
    'ticks serve the queues once a minute meanwhile; look at the messages of the plan and at `QSTASH_TOKEN`: bells go on with the first that is taken',
})

/** Redis is asked, and its last refusal told; QStash is not asked, for that would be a message: what it said last counts. */
export function createHealth({ client, store, bells, version, isTenant }: HealthParts): Pick<Engine, 'health'> {
  return {
    async health() {
      const before = client.fault?.()
      const start = Date.now()
      const asked: Standing = await store.standing().catch((error: SidejobError) => ({ error }))
      const ms = Date.now() - start
      const { error: down, restored, trouble: told, tickAt = null, tickBy = null, bellAt = null, examined } = asked
      const fault = down ?? before
      const trouble = bells.trouble() ?? told
      const problems = [...(fault ? [redisProblem(fault)] : []), ...(trouble ? [bellsProblem(trouble)] : [])]
      return {
        ok: !down,
        redis: !down,
        ...(down ? {} : { ms, bellAt, ...(isTenant ? {} : { tickAt, tickBy }) }),
        version,
        ...(restored && { restored }),
        ...(examined && { examined: examinedView(examined) }),
        ...(problems.length ? { problems } : {}),
      }
    },
  }
}

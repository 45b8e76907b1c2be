// How it stands with what we need: Redis and QStash.

import type { SidejobError } from '../../core/errors.ts'
import type { Client } from '../../redis/client.ts'
import type { Store } from '../../redis/store.ts'
import type { Engine, Health } from '../engine.ts'
import type { Bells } from '../lane/bells.ts'

export type HealthParts = { client: Client; store: Store; bells: Bells; version: string }

type Standing = Awaited<ReturnType<Store['standing']>> & { error?: SidejobError }
type Problem = NonNullable<Health['problems']>[number]

const problemOf = ({ code, message }: SidejobError): Problem => ({ of: 'redis', code, message })

/** Redis is asked, and its last refusal told; QStash is not asked, for that would be a message: what it said last counts. */
export function createHealth({ client, store, bells, version }: HealthParts): Pick<Engine, 'health'> {
  return {
    async health() {
      const before = client.fault?.()
      const start = Date.now()
      const asked: Standing = await store
        .standing()
        .catch((error: SidejobError) => ({ error, restored: null, trouble: null }))
      const redisMs = Date.now() - start
      const { error: down, restored, trouble: told } = asked
      const fault = down ?? before
      const trouble = bells.trouble() ?? told
      const problems: Problem[] = [
        ...(fault ? [problemOf(fault)] : []),
        ...(trouble
          ? [{ of: 'qstash' as const, code: 'UNAVAILABLE' as const, message: trouble.why, inARow: trouble.refused }]
          : []),
      ]
      return {
        ok: !down,
        redis: !down,
        ...(down ? {} : { redisMs }),
        version,
        ...(restored && { restored }),
        ...(problems.length ? { problems } : {}),
      }
    },
  }
}

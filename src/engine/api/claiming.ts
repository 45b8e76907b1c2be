import { hashOf } from '../../core/crypto.ts'
import { SidejobError } from '../../core/errors.ts'
import { refusalIn } from '../../redis/answers.ts'
import type { ClaimedJob } from '../../redis/types.ts'
import type { Context } from '../context.ts'
import type { Call } from '../engine.ts'
import { skipped } from '../jobs/outcome.ts'

/** A call that is repeated with the same key has the same lane name, so it claims the same jobs. */
export const laneOf = async (call: Call | undefined): Promise<{ id: string; seq: number } | undefined> =>
  call?.key
    ? {
        id: (await hashOf(call.key)).slice(0, 32),
        seq: call.fingerprint ? Number.parseInt(call.fingerprint.slice(0, 8), 16) : 1,
      }
    : undefined

/** Claims, gives jobs with outdated constraints their new limits, and fails jobs that do not fit their class. */
export async function claimOnce(
  { store, constraints, executor, ring }: Context,
  request: Parameters<Context['store']['commit']>[0],
) {
  const answer = await store.commit(request)
  if (answer.word === 'stale')
    throw new SidejobError('TAKEN', 'this Idempotency-Key was used for a different claim. Use a new Idempotency-Key')
  await ring([...answer.rings, ...(await constraints.retag(answer))])
  return { ...answer, sound: await executor.failFaulty(answer.claimed) }
}

export async function withoutMissed({ store, ring }: Pick<Context, 'store' | 'ring'>, claimed: ClaimedJob[]) {
  const back = claimed.flatMap(({ document }) => skipped(document, store.now()) ?? [])
  if (back.length === 0) return claimed
  const { rings } = await store.commit({ runs: back })
  await ring(rings)
  const tokens = new Set(back.map(({ token }) => token))
  return claimed.filter(({ document }) => !tokens.has(document.token!))
}

export function checkRefusal(answer: string): void {
  const refusal = refusalIn(answer)
  if (refusal) throw new SidejobError('REFUSED', `${refusal.code}: ${refusal.message}; the run has failed`)
}

import { hashOf } from '../../core/crypto.ts'
import { SidejobError } from '../../core/errors.ts'
import { refusalIn } from '../../redis/answers.ts'
import type { RunOutcome } from '../../redis/changes.ts'
import type { ClaimedJob } from '../../redis/types.ts'
import type { Context } from '../context.ts'
import type { Call } from '../engine.ts'
import { released, skipped } from '../jobs/outcome.ts'

/** A call that is repeated with the same key has the same lane name, so it claims the same jobs. */
export const laneOf = async (call: Call | undefined): Promise<{ id: string; seq: number } | undefined> =>
  call?.key
    ? {
        id: (await hashOf(call.key)).slice(0, 32),
        seq: call.fingerprint ? Number.parseInt(call.fingerprint.slice(0, 8), 16) : 1,
      }
    : undefined

async function commitAll({ store, ring }: Pick<Context, 'store' | 'ring'>, runs: RunOutcome[]) {
  if (runs.length > 0) await ring((await store.commit({ runs })).rings)
}

/**
 * Claims, gives jobs with outdated constraints their new limits, and fails jobs that do not fit their class. After an
 * error, a caller without an Idempotency-Key (`isOnce`) cannot repeat the claim, so its jobs are released.
 */
export async function claimOnce<T>(
  parts: Context,
  { isOnce, ...request }: Parameters<Context['store']['commit']>[0] & { isOnce: boolean },
  prepare: (sound: ClaimedJob[]) => Promise<T>,
) {
  const { store, constraints, executor, ring } = parts
  const answer = await store.commit(request)
  const { claimed } = answer
  if (answer.word === 'stale')
    throw new SidejobError('TAKEN', 'this Idempotency-Key was used for a different claim. Use a new Idempotency-Key')
  try {
    await ring([...answer.rings, ...(await constraints.retag(answer))])
    const sound = await executor.failFaulty(claimed)
    return { ...answer, sound, prepared: await prepare(sound) }
  } catch (error) {
    const runs = isOnce ? claimed.map((one) => released(one)) : []
    await commitAll(parts, runs).catch(() => undefined)
    throw error
  }
}

export async function withoutMissed(parts: Pick<Context, 'store' | 'ring'>, claimed: ClaimedJob[]) {
  const back = claimed.flatMap(({ document }) => skipped(document, parts.store.now()) ?? [])
  await commitAll(parts, back)
  const tokens = new Set(back.map(({ token }) => token))
  return claimed.filter(({ document }) => !tokens.has(document.token!))
}

export function checkRefusal(answer: string): void {
  const refusal = refusalIn(answer)
  if (refusal) throw new SidejobError('REFUSED', `${refusal.code}: ${refusal.message}; the run has failed`)
}

import type { ClaimedJob } from '../../redis/types.ts'
import type { Context } from '../context.ts'
import { skipped } from '../jobs/outcome.ts'

export async function withoutMissed({ store, ring }: Pick<Context, 'store' | 'ring'>, lent: ClaimedJob[]) {
  const back = lent.flatMap(({ document }) => skipped(document, store.now()) ?? [])
  if (back.length === 0) return lent
  const { rings } = await store.commit({ runs: back })
  await ring(rings)
  const tokens = new Set(back.map(({ token }) => token))
  return lent.filter(({ document }) => !tokens.has(document.token!))
}

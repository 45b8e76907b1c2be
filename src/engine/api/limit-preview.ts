import type { Store } from '../../redis/store.ts'
import type { KeptLimit, Room } from '../../redis/types.ts'
import type { LimitPreview, LimitSettings } from '../engine.ts'

const NAMED = 20

type Changed = Pick<KeptLimit, 'concurrency' | 'rate' | 'paused'>

export const changedBy = (was: Changed, { concurrency, rate, paused }: LimitSettings): Changed => ({
  concurrency: concurrency === undefined ? was.concurrency : concurrency,
  rate: rate === undefined ? was.rate : rate,
  paused: paused ?? was.paused,
})

function freeAt({ settings, running, now }: Room, { concurrency, rate, paused }: Changed, started: number): number {
  if (paused || (settings.shutUntil ?? 0) > now) return 0
  const slots = (concurrency ?? Number.POSITIVE_INFINITY) - running
  const starts = (rate?.limit ?? Number.POSITIVE_INFINITY) - started
  return Math.max(0, Math.min(slots, starts) - settings.reserved)
}

export async function limitPreview(
  store: Store,
  key: string,
  settings: LimitSettings,
): Promise<{ room: Room; changed: Changed; preview: LimitPreview } | undefined> {
  const room = await store.room(key, { holders: 0, waiting: NAMED })
  if (!room) return undefined
  const changed = changedBy(room.settings, settings)
  const isSame = changed.rate?.period === room.settings.rate?.period
  const started = isSame || !changed.rate ? room.started : await store.startedSince(key, room.now - changed.rate.period)
  const wouldStart = Math.min(room.waiting, freeAt(room, changed, changed.rate ? started : 0))
  return { room, changed, preview: { wouldStart, first: room.line.slice(0, wouldStart) } }
}

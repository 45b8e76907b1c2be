import { groupIdOf, groupKey } from '../../core/constraint.ts'
import { SidejobError } from '../../core/errors.ts'
import type { Store } from '../../redis/store.ts'
import type { KeptLimit, Room } from '../../redis/types.ts'
import type { Context } from '../context.ts'
import type { GroupView, LimitRow, LimitSettings, LimitView, Previewed, RoomView, WaitedLimit } from '../engine.ts'
import { refuseNumbersOfConstraint } from './constraints.ts'

type Row = Awaited<ReturnType<Store['limits']>>[number]

const STARTS = 100

const still = (moment: number | null, now: number): number | null => (moment !== null && moment > now ? moment : null)

const limitView = (row: LimitView, now: number): LimitView => ({
  key: row.key,
  concurrency: row.concurrency,
  rate: row.rate,
  paused: row.paused,
  shutUntil: still(row.shutUntil, now),
  running: row.running,
  waiting: row.waiting,
})

export const waitedView = (row: Row, now: number): WaitedLimit => ({
  ...limitView(row, now),
  waitedSince: row.fullSince,
})

export const isGroup = (key: string): boolean => groupIdOf(key) !== undefined

const detailedView = (row: Row, now: number): LimitRow => ({
  ...limitView(row, now),
  fullSince: row.fullSince,
  started: row.rate ? row.started : undefined,
  starts: row.rate ? row.starts : undefined,
})

export function roomOf(key: string, room: Room): RoomView {
  const { settings, running, waiting, started, nextRoom, line, now } = room
  return {
    ...limitView({ key, ...settings, running, waiting }, now),
    started,
    fullSince: line[0]?.since ?? null,
    nextRoom: waiting > 0 ? nextRoom : null,
  }
}

const noSuchLimit = (key: string): SidejobError => new SidejobError('NOT_FOUND', `there is no limit ${key}`)

const NOBODY = { wouldStart: 0, first: [] }
const noLimit = (key: string): LimitView => ({
  key,
  concurrency: null,
  rate: null,
  paused: false,
  shutUntil: null,
  running: 0,
  waiting: 0,
})

const groupView = ({ key, concurrency, paused, running, waiting, jobs }: Row): GroupView => ({
  id: groupIdOf(key)!,
  concurrency,
  paused,
  running,
  waiting,
  jobs: jobs ?? 0,
})

const NAMED = 20

type Changed = Pick<KeptLimit, 'concurrency' | 'rate' | 'paused'>

const changedBy = (was: Changed, { concurrency, rate, paused }: LimitSettings): Changed => ({
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

async function limitPreview(store: Store, key: string, settings: LimitSettings) {
  const room = await store.room(key, { holders: 0, waiting: NAMED })
  if (!room) return undefined
  const changed = changedBy(room.settings, settings)
  const isSame = changed.rate?.period === room.settings.rate?.period
  const started = isSame || !changed.rate ? room.started : await store.startedSince(key, room.now - changed.rate.period)
  const wouldStart = Math.min(room.waiting, freeAt(room, changed, changed.rate ? started : 0))
  return { room, changed, preview: { wouldStart, first: room.line.slice(0, wouldStart) } }
}

export function createLimits({ store, constraints, ring, now }: Context) {
  async function limitOf(key: string) {
    const [row] = await store.limits(key)
    if (!row) throw noSuchLimit(key)
    return limitView(row, now())
  }

  async function groupOf(id: string) {
    const [row] = await store.limits(groupKey(id))
    if (!row) throw new SidejobError('NOT_FOUND', `there is no group ${id}: it has no unfinished jobs`)
    return groupView(row)
  }

  async function bounds(most?: number, { details = false } = {}) {
    const rows = await store.limits('', most, details ? STARTS : 0)
    const view = details ? detailedView : limitView
    return {
      limits: rows.filter(({ key }) => !isGroup(key)).map((row) => view(row, now())),
      groups: rows.filter(({ key }) => isGroup(key)).map(groupView),
    }
  }

  return {
    limits: {
      withGroups: bounds,

      list: async (options?: { details?: boolean }) => ({
        limits: (await bounds(undefined, options)).limits,
      }),

      get: limitOf,

      async usage(key: string, { holders = 0, waiting = 0 }: { holders?: number; waiting?: number }) {
        // Always reads the oldest waiting job, because this job shows when the limit became full.
        const room = await store.room(key, { holders, waiting: Math.max(waiting, 1) })
        if (!room) throw noSuchLimit(key)
        return {
          limit: roomOf(key, room),
          jobs: room.settings.jobs ?? 0,
          holders: room.holders,
          waiting: room.line.slice(0, waiting),
        }
      },

      async set(
        key: string,
        settings: LimitSettings,
        { preview = false }: { preview?: boolean } = {},
      ): Promise<Previewed<LimitView>> {
        await refuseNumbersOfConstraint(constraints, key, settings)
        if (preview) {
          const found = await limitPreview(store, key, settings)
          if (!found) return { ...noLimit(key), ...changedBy(noLimit(key), settings), preview: NOBODY }
          return {
            ...limitView({ ...found.room, ...found.changed, key, shutUntil: found.room.settings.shutUntil }, now()),
            preview: found.preview,
          }
        }
        await ring(await store.limit(key, 'set', settings))
        return limitOf(key)
      },

      async remove(key: string) {
        await ring(await store.limit(key, 'remove'))
      },
    },

    groups: {
      list: async () => ({ groups: (await bounds()).groups }),

      get: groupOf,

      async set(
        id: string,
        settings: Omit<LimitSettings, 'rate'>,
        { preview = false }: { preview?: boolean } = {},
      ): Promise<Previewed<GroupView>> {
        if (preview) {
          const [was, found] = await Promise.all([groupOf(id), limitPreview(store, groupKey(id), settings)])
          const { concurrency, paused } = found?.changed ?? changedBy({ ...was, rate: null }, settings)
          return { ...was, concurrency, paused, preview: found?.preview ?? NOBODY }
        }
        await ring(await store.limit(groupKey(id), 'change', settings))
        return groupOf(id)
      },
    },

    flags: {
      get: (name: string) => store.flag(name),

      set: (name: string, on: boolean) => store.setFlag(name, on),
    },
  }
}

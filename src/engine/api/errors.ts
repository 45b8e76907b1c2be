import { hasCode, SidejobError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { iso } from '../../core/time.ts'
import { MINUTE } from '../../core/units.ts'
import { ops } from '../../redis/ops.ts'
import type { Store } from '../../redis/store.ts'
import { objectsIn } from '../../redis/table.ts'
import type { Context } from '../context.ts'
import type { ErrorFilter, ErrorKind, ErrorMute, ErrorPage, MutedKind } from '../engine.ts'
import { failureOf, kindNameOf, kindOfFailed } from '../jobs/kind.ts'

const NAMED = 3
const MESSAGE = 500

const SORTED_PER_STEP = 500
const SORTS_FOR_MS = 3_000
const STEPS = 20
const NO_KIND = '-'
const MORE_TO_COUNT = '1'
const SCANNED_PER_PAGE = 1_000

type Queue = Awaited<ReturnType<Context['store']['errors']>>[number]
type Row = Queue['kinds'][number] & { queue: string }

const minutesOf = (rows: readonly Row[]) => {
  const counts = new Map<number, number>()
  for (const { minutes } of rows)
    for (const word of minutes.split(' ').filter(Boolean)) {
      const [minute, n] = word.split(':').map(Number) as [number, number]
      counts.set(minute * MINUTE, (counts.get(minute * MINUTE) ?? 0) + n)
    }
  return [...counts].map(([at, count]) => ({ at, count })).sort((a, b) => a.at - b.at)
}

function kindOfRows(rows: readonly Row[], details: boolean): ErrorKind {
  const jobs = rows.flatMap((row) => row.jobs.map(Number)).sort((a, b) => b - a)
  const { kind: error, class: name, ...newest } = rows.find((row) => Number(row.jobs[0]) === jobs[0])!
  const record = { class: name, lastError: newest.error, redacts: newest.redacts }
  const { message: said } = failureOf(record)
  const { message, frame } = kindOfFailed(record)
  return {
    error,
    class: name,
    queues: [...new Set(rows.map(({ queue }) => queue))],
    message,
    example: typeof said === 'string' ? said.slice(0, MESSAGE) : '',
    frame,
    count: rows.reduce((sum, { count }) => sum + count, 0),
    firstAt: Math.min(...rows.map(({ first }) => first)),
    lastAt: Math.max(...rows.map(({ last }) => last)),
    jobs: jobs.slice(0, NAMED),
    ...(details ? { minutes: minutesOf(rows) } : {}),
  }
}

type Mute = ErrorMute & { class: string | null }

const muteView = (mute?: Mute): ErrorMute | null => (mute ? { by: mute.by, at: mute.at, until: mute.until } : null)

export async function mutesOf({ store, now }: Pick<Context, 'store' | 'now'>) {
  const all = objectsIn<Mute>(await store.mutes.all())
  const isOver = ({ until }: Mute) => until !== null && until <= now()
  return {
    muted: new Map(all.filter(([, mute]) => !isOver(mute))),
    over: all.filter(([, mute]) => isOver(mute)).map(([kind]) => kind),
  }
}

type Counted = { rows: Row[]; looked: number; cursor: string | null }

async function sortSome(store: Store, { queue }: Queue) {
  const { jobs } = await store.list({ mode: 'all', status: 'failed', kind: NO_KIND, queue, limit: SORTED_PER_STEP })
  const words = jobs.flatMap(({ id, document }) => [String(id), kindNameOf(document)])
  await store.change('', [ops.sort({ queue_name: queue, jobs: words })])
}

export function createErrors({ store, now }: Context) {
  const ask = ({ queue, class: name }: Omit<ErrorFilter, 'details' | 'muted'>) =>
    store.errors({ queue, class: name, newest: NAMED })

  async function indexed(of: ErrorFilter): Promise<Counted> {
    const until = Date.now() + SORTS_FOR_MS
    let queues = await ask(of)
    const isUnsorted = ({ unsorted }: Queue): boolean => unsorted > 0
    for (let step = 0; step < STEPS && Date.now() < until; step++) {
      const next = queues.find(isUnsorted)
      if (!next) break
      try {
        await sortSome(store, next)
      } catch (error) {
        if (!hasCode(error, 'FULL')) throw error
        break
      }
      queues = await ask(of)
    }
    const rows = queues.flatMap(({ queue, kinds }) => kinds.map((kind) => ({ ...kind, queue })))
    const looked = (
      of.class === undefined ? queues.map(({ failed }) => failed) : rows.map(({ count }) => count)
    ).reduce((sum, n) => sum + n, 0)
    return { rows, looked, cursor: queues.some(isUnsorted) ? MORE_TO_COUNT : null }
  }

  async function scanned({ queue, class: name, since, cursor: before }: ErrorFilter): Promise<Counted> {
    const page = { mode: 'all', status: 'failed', queue, class: name, since, before, limit: SCANNED_PER_PAGE } as const
    const { jobs, cursor } = await store.list(page)
    const rows = jobs.map(({ id, document }): Row => {
      const { queue, class: name, endedAt = 0, lastError, redacts } = document
      return {
        queue,
        kind: kindNameOf(document),
        class: name,
        first: endedAt,
        last: endedAt,
        minutes: `${Math.floor(endedAt / MINUTE)}:1`,
        count: 1,
        jobs: [String(id)],
        error: lastError,
        redacts,
      }
    })
    return { rows, looked: jobs.length, cursor }
  }

  return {
    async list({ details = false, muted: isWhole = false, ...of }: ErrorFilter): Promise<ErrorPage> {
      const counting = of.since === undefined ? indexed(of) : scanned(of)
      const [{ rows, looked, cursor }, { muted }] = await Promise.all([counting, mutesOf({ store, now })])
      const errors = [...Map.groupBy(rows, ({ kind }) => kind).values()]
        .map((own) => kindOfRows(own, details))
        .flatMap((row) => {
          const mute = muteView(muted.get(row.error))
          if (!mute) return [row]
          return isWhole ? [{ ...row, muted: mute }] : []
        })
        .sort((a, b) => b.count - a.count || b.lastAt - a.lastAt)
      const mine = [...muted].map(([error, mute]) => ({ error, ...mute })).sort((a, b) => b.at - a.at)
      return { errors, looked, cursor, muted: mine }
    },

    async mute(
      kind: string,
      { muted: isMuted, until = null, by }: { muted: boolean; until?: number | null; by: string },
    ): Promise<MutedKind> {
      const at = now()
      if (until !== null && until <= at)
        throw new SidejobError('BAD_REQUEST', `until: expected a time in the future, got ${iso(until)}`, {
          path: ['until'],
        })
      const { muted, over } = await mutesOf({ store, now })
      const was = muteView(muted.get(kind))
      const gone = isMuted ? over : [...over, kind]
      await store.mutes.remove(...gone)
      if (!isMuted) return { kind, muted: null, was }
      const { most } = limits.mutes
      if (!was && muted.size >= most)
        throw new SidejobError('LIMITED', `expected at most ${most} muted kinds of error: unmute one first`)
      const { rows } = await indexed({})
      const name = rows.find((row) => row.kind === kind)?.class ?? null
      await store.mutes.set(kind, JSON.stringify({ class: name, by, at, until } satisfies Mute))
      return { kind, muted: { by, at, until }, was }
    },
  }
}

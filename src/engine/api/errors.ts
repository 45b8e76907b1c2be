// Groups of failed jobs by kind of error. The kind is computed on read, so failing costs nothing. Muted kinds are left
// out.

import { decodeValue } from '../../core/codec/value.ts'
import { SidejobError } from '../../core/errors.ts'
import { type Failure, type Kind, kindOf } from '../../core/fingerprint.ts'
import { limits } from '../../core/limits.ts'
import { readObject } from '../../core/readable.ts'
import type { JobRecord } from '../../redis/record.ts'
import type { Context } from '../context.ts'
import type { ErrorFilter, ErrorKind, ErrorMute, ErrorPage, MutedKind } from '../engine.ts'
import { shownError } from '../run/shown.ts'

const LOOKED_AT = 1_000
const NAMED = 3
const MESSAGE = 500
const MINUTE = 60_000

const failureOf = (record: JobRecord): Failure => {
  const shown = shownError(record)
  const error = shown === null ? null : decodeValue(shown)
  return typeof error === 'object' && error !== null ? (error as Failure) : {}
}

export const kindOfJob = (document: JobRecord): Kind => kindOf(document.class, failureOf(document))

function minutesOf(moments: readonly number[]): { at: number; count: number }[] {
  const counts = new Map<number, number>()
  for (const at of moments.toSorted((a, b) => a - b)) {
    const minute = at - (at % MINUTE)
    counts.set(minute, (counts.get(minute) ?? 0) + 1)
  }
  return [...counts].map(([at, count]) => ({ at, count }))
}

type Failed = { id: number; document: JobRecord; kind: Kind }

function rowOf(all: [Failed, ...Failed[]], details: boolean): ErrorKind {
  const [{ document, kind }] = all
  const moments = all.map((one) => one.document.endedAt ?? 0)
  const said = failureOf(document).message
  return {
    error: kind.fingerprint,
    class: document.class,
    queues: [...new Set(all.map((one) => one.document.queue))],
    message: kind.message,
    example: typeof said === 'string' ? said.slice(0, MESSAGE) : '',
    frame: kind.frame,
    count: all.length,
    firstAt: Math.min(...moments),
    lastAt: Math.max(...moments),
    jobs: all.slice(0, NAMED).map(({ id }) => id),
    ...(details ? { minutes: minutesOf(moments) } : {}),
  }
}

/** `class` is null if no job of this kind was found. */
type Mute = ErrorMute & { class: string | null }

const told = (mute?: Mute): ErrorMute | null => (mute ? { by: mute.by, at: mute.at, until: mute.until } : null)

const isPast = (until: number): SidejobError =>
  new SidejobError('BAD_REQUEST', `until: expected a time in the future, got ${new Date(until).toISOString()}`, {
    path: ['until'],
  })

export async function mutesOf({ store, now }: Pick<Context, 'store' | 'now'>) {
  const all = Object.entries(await store.mutes()).flatMap(([kind, text]) => {
    const mute = readObject<Mute>(text)
    return mute ? [[kind, mute] as const] : []
  })
  const isOver = ({ until }: Mute) => until !== null && until <= now()
  return {
    muted: new Map(all.filter(([, mute]) => !isOver(mute))),
    over: all.filter(([, mute]) => isOver(mute)).map(([kind]) => kind),
  }
}

export function createErrors({ store, now }: Context) {
  async function failedJobs(of: Omit<ErrorFilter, 'details' | 'muted'>) {
    const { queue, class: name, since, cursor: before } = of
    const filter = { mode: 'all', status: 'failed', queue, class: name, since, before, limit: LOOKED_AT } as const
    const { jobs, cursor } = await store.list(filter)
    return { failed: jobs.map(({ id, document }) => ({ id, document, kind: kindOfJob(document) })), cursor }
  }

  return {
    /** Groups failed jobs by kind of error, most frequent first, among 1,000 jobs before `cursor`. */
    async list({ details = false, muted: isWhole = false, ...of }: ErrorFilter): Promise<ErrorPage> {
      const [{ failed, cursor }, { muted }] = await Promise.all([failedJobs(of), mutesOf({ store, now })])
      const kinds = Map.groupBy(failed, ({ kind }) => kind.fingerprint)
      const errors = [...kinds.values()]
        .map((own) => rowOf(own as [Failed, ...Failed[]], details))
        .flatMap((row) => {
          const mute = told(muted.get(row.error))
          if (!mute) return [row]
          return isWhole ? [{ ...row, muted: mute }] : []
        })
        .sort((a, b) => b.count - a.count || b.lastAt - a.lastAt)
      const mine = [...muted].map(([error, mute]) => ({ error, ...mute })).sort((a, b) => b.at - a.at)
      return { errors, looked: failed.length, cursor, muted: mine }
    },

    /** Mutes a kind of error, for good or until a time, or unmutes it. */
    async mute(
      kind: string,
      { muted: isMuted, until = null, by }: { muted: boolean; until?: number | null; by: string },
    ): Promise<MutedKind> {
      const at = now()
      if (until !== null && until <= at) throw isPast(until)
      const { muted, over } = await mutesOf({ store, now })
      const was = told(muted.get(kind))
      const gone = isMuted ? over : [...over, kind]
      if (gone.length > 0) await store.removeMutes(gone)
      if (!isMuted) return { kind, muted: null, was }
      const { most } = limits.mutes
      if (!was && muted.size >= most)
        throw new SidejobError('LIMITED', `expected at most ${most} kinds of errors that are muted, got one more`)
      const { failed } = await failedJobs({})
      const name = failed.find((one) => one.kind.fingerprint === kind)?.document.class ?? null
      await store.setMute(kind, JSON.stringify({ class: name, by, at, until } satisfies Mute))
      return { kind, muted: { by, at, until }, was }
    },
  }
}

import { messageOf, SidejobError } from '../../core/errors.ts'
import { DAY } from '../../core/units.ts'
import type { HistoryStore } from '../../history/store.ts'
import { notedIn } from '../../redis/outbox.ts'
import type { Store } from '../../redis/store.ts'
import type { StoredTexts } from '../../redis/verbs/outbox.ts'
import type { HistoryQuery, HistorySql } from '../engine.ts'
import { historyJob, historyRun, rowsOf } from './history-rows.ts'

/** A lane stores history after this many ended jobs, or after EVERY_MS. */
const ENDS = 200
const EVERY_MS = 5_000
const PAUSE_MS = 10_000
/** Maximum slices that one call stores, each of at most 4 MiB. */
const SLICES = 20
const FORGOTTEN = 10
/** If an invocation is cut off while it stores history, another one may store it after this time. */
const CUT_OFF_MS = 30_000
/** Must match lib/runtime/outbox.lua. */
const FULL = 67_108_864

/** `retain` is the time in Redis after a job's end, in milliseconds. */
export type HistoryOptions = { store: HistoryStore; days?: number; retain?: number }

type HistoryParts = { store: Store; history: HistoryOptions | undefined; now: () => number }

const encoder = new TextEncoder()

export function createHistory({ store, history, now }: HistoryParts) {
  const { namespace, vault } = store
  let isBegun = false
  let drainingSince = Number.NEGATIVE_INFINITY
  let ends = 0
  let storedAt = 0
  let failed: { at: number; why: string } | undefined

  const there = (): HistoryStore => {
    if (history) return history.store
    throw new SidejobError(
      'NOT_FOUND',
      'this deployment has no history: bind a D1 database as HISTORY, or pass a SQLite file under Node',
    )
  }

  /** The database ignores rows that concurrent calls have already stored. */
  async function drained(database: HistoryStore) {
    let stored: StoredTexts | undefined
    for (let n = 0; n < SLICES; n++) {
      const { from, texts } = await store.outbox('1', stored)
      if (texts.length === 0) return
      const noted = notedIn(texts, (line) => console.error(`sidejob: the history cannot read ${line.slice(0, 200)}`))
      await database.write(namespace, rowsOf(noted, vault))
      stored = { from, bytes: texts.map((text) => encoder.encode(text).length) }
    }
    await store.outbox('1', stored)
  }

  async function drain() {
    if (!history) return
    const own = now()
    drainingSince = own
    try {
      await drained(history.store)
      failed = undefined
    } catch (error) {
      failed = { at: now(), why: messageOf(error) }
      console.error(`sidejob: the history cannot be stored: ${failed.why}`)
    }
    if (drainingSince === own) drainingSince = Number.NEGATIVE_INFINITY
    ends = 0
    storedAt = now()
  }

  return {
    isOn: history !== undefined,

    /** Call this before the first job runs, or the history misses jobs. */
    async begin() {
      if (!history || isBegun) return
      await store.outbox('1')
      isBegun = true
    },

    /** The invocation must not end before this promise resolves. */
    async committed(runs: number) {
      if (!history || runs === 0) return
      ends += runs
      const isDraining = now() - drainingSince < CUT_OFF_MS
      if (isDraining || (failed && now() - failed.at < PAUSE_MS)) return
      if (ends >= ENDS || now() - storedAt >= EVERY_MS) await drain()
    },

    drain,

    async forget() {
      if (!history?.days) return
      for (let n = 0; n < FORGOTTEN; n++)
        if (!(await history.store.forget(namespace, now() - history.days * DAY))) return
    },

    async erase() {
      for (let n = 0; n < FORGOTTEN; n++) if (!(await there().forget(namespace, Number.MAX_SAFE_INTEGER))) return false
      return true
    },

    async list(query: HistoryQuery) {
      const { rows, searchedTo = null, cursor } = await there().list(namespace, query)
      return { jobs: rows.map((row) => historyJob(row, vault)), searchedTo, cursor }
    },

    async get(job: string) {
      const { ends: found, runs } = await there().get(namespace, Number(job))
      if (found.length === 0 && runs.length === 0) throw new SidejobError('NOT_FOUND', `the history has no job ${job}`)
      return { ends: found.map((row) => historyJob(row, vault)), runs: runs.map((row) => historyRun(row, vault)) }
    },

    async sql({ sql, limit }: HistorySql) {
      try {
        return await there().sql(sql, limit)
      } catch (error) {
        if (error instanceof SidejobError) throw error
        throw new SidejobError('BAD_REQUEST', `sql: ${messageOf(error)}`, { path: ['sql'] })
      }
    },

    problemOf(outbox: { bytes: number } | undefined): string | undefined {
      if (outbox && outbox.bytes >= FULL)
        return 'the outbox of the history is full: no jobs are claimed until the database stores ended jobs'
      return failed && `ended jobs cannot be stored in the history: ${failed.why}`
    },

    async status() {
      const { from, bytes, seen } = await store.outbox('')
      return {
        on: history !== undefined,
        waiting: bytes,
        full: bytes >= FULL,
        storedAt: from === 0 || seen === 0 ? null : seen,
        error: failed?.why ?? null,
        keptDays: history?.days ?? null,
      }
    },
  }
}

export type History = ReturnType<typeof createHistory>

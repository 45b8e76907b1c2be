import { decodeValue, type Encoded, encodeValue } from '../../core/codec/value.ts'
import { ended } from '../../core/job.ts'
import { logWords } from '../../redis/changes.ts'
import { createdAtOf, type JobRecord, statusOf } from '../../redis/record.ts'
import type { Vault } from '../../redis/vault.ts'
import type { Entry } from '../../redis/verbs/streams.ts'
import type { Context } from '../context.ts'
import type { Call, Ref } from '../engine.ts'

// The largest 400 entries take 6.4 MiB, and Redis answers with at most 10 MB.
const LOG_PAGE = 400
const LOG_PAGES = 25

type LogRow = { id: string; at: number; job: number | null; class: string | null; level: string; entry: Encoded }

/** The members of an error are encrypted separately. */
const shownEntry = (entry: string, { show }: Vault): Encoded =>
  entry.startsWith('{') ? show.error(entry) : show.value(entry, 'log')

function logRow({ id, fields }: Entry, vault: Vault): LogRow {
  const { at, job, class: name, level, entry } = fields
  return {
    id,
    at: Number(at),
    job: job ? Number(job) : null,
    class: name || null,
    level: level!,
    entry: shownEntry(entry!, vault),
  }
}

function ownRow({ id, fields }: Entry, vault: Vault, job: number, name: string): LogRow {
  const { at, did } = fields
  const end = did!.indexOf('\n')
  const entry = shownEntry(did!.slice(end + 1), vault)
  return { id, at: Number(at), job, class: name, level: did!.slice(0, end), entry }
}

const entryOf = (entry: Encoded): Encoded => {
  const text = decodeValue(entry)
  return typeof text === 'string' ? encodeValue({ message: text }) : entry
}

/** Tolerance for Redis' clock, in milliseconds. */
const MARGIN = 5_000

const lifeOf = (document: JobRecord) => ({
  from: createdAtOf(document) - MARGIN,
  ...(ended.has(statusOf(document)) && document.endedAt ? { to: document.endedAt + MARGIN } : {}),
})

export function createLog({ store, change, now }: Context) {
  return {
    async write(entry: Encoded, call?: Call) {
      await change('', [logWords(entryOf(entry), store.vault)], call)
    },

    async read({
      job,
      class: name,
      level,
      text,
      since = 0,
      until = Number.POSITIVE_INFINITY,
      cursor,
      limit = 100,
    }: {
      job?: Ref
      class?: string
      level?: string
      text?: string
      since?: number
      until?: number
      cursor?: string
      limit?: number
    }) {
      const found = job === undefined ? undefined : await store.inspect(job)
      const id = found?.id
      // A job with a history has its own log.
      const own = found?.document.history ? found : undefined
      const { from = 0, to: end = Number.POSITIVE_INFINITY } = found && !own ? lifeOf(found.document) : {}
      const to = Math.min(end, until + MARGIN)
      // The ids of entries are times of Redis' own clock. They do not match if a test has moved our clock.
      const latest = to === Number.POSITIVE_INFINITY || Math.abs(now() - Date.now()) > MARGIN ? '+' : String(to)
      const earliest = Math.max(since, from)
      const wanted = text?.toLowerCase()
      const isWanted = (row: LogRow) =>
        row.at <= until &&
        (id === undefined || row.job === id) &&
        (name === undefined || row.class === name) &&
        (level === undefined || row.level === level) &&
        (wanted === undefined || row.entry.toLowerCase().includes(wanted))
      const entries: LogRow[] = []
      for (let page = 0, before = cursor; page < LOG_PAGES; page++) {
        const read = await store.readLog(before ? `(${before}` : latest, LOG_PAGE, own?.id)
        for (const entry of read) {
          const row = own ? ownRow(entry, store.vault, own.id, own.document.class) : logRow(entry, store.vault)
          if (row.at < earliest) return { entries, cursor: null }
          if (isWanted(row)) entries.push(row)
          before = row.id
          if (entries.length === limit) return { entries, cursor: row.id }
        }
        if (read.length < LOG_PAGE) return { entries, cursor: null }
        cursor = before
      }
      return { entries, cursor: cursor! }
    },
  }
}

export type Log = ReturnType<typeof createLog>

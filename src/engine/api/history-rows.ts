// Values are redacted before the database stores them.

import { decodeValue, type Encoded, encodedToJson } from '../../core/codec/value.ts'
import { type Failure, kindOf } from '../../core/fingerprint.ts'
import { readLabels } from '../../core/labels.ts'
import { tryRead } from '../../core/readable.ts'
import { redacted } from '../../core/redact.ts'
import type { PastRun } from '../../core/run.ts'
import type { EndRow, RunRow } from '../../history/store.ts'
import type { Noted, NotedEnd, NotedRun } from '../../redis/outbox.ts'
import { createdAtOf, type JobRecord, pastRunOf, redactedPathsOf } from '../../redis/record.ts'
import { isSealed, type Purpose, type Vault } from '../../redis/vault.ts'
import type { HistoryJob, HistoryRun } from '../engine.ts'

type Part = Extract<Purpose, 'args' | 'result' | 'error'>

function kept(text: string | undefined, part: Part, record: JobRecord, vault: Vault): string | null {
  if (text === undefined || text === 'null') return null
  const paths = redactedPathsOf(record)
  const wasSealed = isSealed(text)
  const opened = part === 'error' ? vault.show.error(text) : vault.show.value(text, part)
  if (wasSealed && (isSealed(opened) || opened.startsWith('{"$sealed":'))) return paths.length > 0 ? null : text
  const shown = encodedToJson(redacted(opened as Encoded, paths, part) as Encoded)
  return wasSealed ? vault.seal(shown as Encoded, part) : shown
}

const failureOf = (text: string | null): Failure => {
  const error = text === null ? undefined : tryRead(() => decodeValue(text as Encoded))
  return typeof error === 'object' && error !== null ? (error as Failure) : {}
}

const openError = (text: string | undefined, record: JobRecord, vault: Vault): string | null =>
  text === undefined ? null : redacted(vault.show.error(text) as Encoded, redactedPathsOf(record), 'error')

function runsOf({ runNumber, lostRuns = 0 }: JobRecord, run: PastRun | undefined): number {
  if (!run || runNumber === undefined) return run?.attempt ?? 0
  return runNumber - 1 + run.attempt - Number(run.outcome !== 'failed') + lostRuns
}

function endRow({ id, record, status, value }: NotedEnd, vault: Vault): EndRow {
  const run = record.lastRun === undefined ? undefined : pastRunOf(record.lastRun)
  const error = status === 'completed' ? undefined : value
  const stored = kept(error, 'error', record, vault)
  const failure = status === 'failed' ? failureOf(openError(error, record, vault)) : undefined
  const text = stored !== null && !isSealed(stored) ? failureOf(stored).message : undefined
  const created = createdAtOf(record)
  return {
    job: id,
    ended: record.endedAt ?? created,
    status,
    queue: record.queue,
    class: record.class,
    created,
    started: run?.startedAt ?? null,
    took: run ? run.endedAt - run.startedAt : null,
    waited: run ? Math.max(0, run.startedAt - created) : null,
    attempts: runsOf(record, run),
    lost: record.lostRuns ?? 0,
    version: run?.version ?? null,
    parent: record.parent === undefined ? null : Number(record.parent),
    name: record.childName ?? null,
    labels: record.labels ?? null,
    grp: record.group ?? null,
    tag: record.tag ?? null,
    priority: record.priority ?? 0,
    by: record.apiKey ?? null,
    created_by: record.createdBy ?? null,
    scheduled_for: record.scheduledFor ?? null,
    args: kept(record.args, 'args', record, vault),
    result: status === 'completed' ? kept(value, 'result', record, vault) : null,
    error: stored,
    error_kind: failure ? kindOf(record.class, failure).fingerprint : null,
    error_text: typeof text === 'string' ? text : null,
  }
}

const runRow = ({ id, record, run }: NotedRun, vault: Vault): RunRow => ({
  job: id,
  started: run.startedAt,
  ended: run.endedAt,
  outcome: run.outcome,
  attempt: run.attempt,
  version: run.version ?? null,
  by: run.by ?? null,
  queue: record.queue,
  class: record.class,
  error: kept(run.error, 'error', record, vault),
})

export const rowsOf = ({ ends, runs }: Noted, vault: Vault) => ({
  ends: ends.map((end) => endRow(end, vault)),
  runs: runs.map((run) => runRow(run, vault)),
})

const shown = (text: unknown, part: Part, { show }: Vault): Encoded | null =>
  typeof text === 'string' ? (show.value(text, part) as Encoded) : null

const number = (value: unknown): number | null => (value === null || value === undefined ? null : Number(value))
const text = (value: unknown): string | null => (value === null || value === undefined ? null : String(value))

export const historyJob = (row: EndRow, vault: Vault): HistoryJob => ({
  id: Number(row.job),
  queue: String(row.queue),
  class: String(row.class),
  status: row.status as HistoryJob['status'],
  args: shown(row.args, 'args', vault),
  result: shown(row.result, 'result', vault),
  error: shown(row.error, 'error', vault),
  kind: text(row.error_kind),
  labels: readLabels(text(row.labels) ?? undefined),
  group: text(row.grp),
  tag: text(row.tag),
  priority: Number(row.priority),
  parent: row.parent === null ? null : { id: Number(row.parent), name: text(row.name) ?? '' },
  createdAt: Number(row.created),
  startedAt: number(row.started),
  endedAt: Number(row.ended),
  took: number(row.took),
  waited: number(row.waited),
  attempts: Number(row.attempts),
  lost: Number(row.lost),
  version: text(row.version),
  createdBy: text(row.created_by) ?? '',
  ...(row.by === null ? {} : { by: String(row.by) }),
})

export const historyRun = (row: RunRow, vault: Vault): HistoryRun => ({
  startedAt: Number(row.started),
  endedAt: Number(row.ended),
  outcome: String(row.outcome),
  attempt: Number(row.attempt),
  version: text(row.version),
  by: text(row.by),
  error: shown(row.error, 'error', vault),
})

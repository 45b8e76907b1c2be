// Each run changes one slice of jobs. The same commit stores the next cursor, so a lost run has changed nothing.

import { isCallbackQueue } from '../../core/callback.ts'
import { encodeValue } from '../../core/codec/value.ts'
import { SidejobError } from '../../core/errors.ts'
import { DAY } from '../../core/units.ts'
import type { RunOutcome } from '../../redis/changes.ts'
import { PLACE } from '../../redis/marks.ts'
import { ops, type Words } from '../../redis/ops.ts'
import { type JobRecord, stateFieldOf } from '../../redis/record.ts'
import type { Store } from '../../redis/store.ts'
import type { ClaimedJob } from '../../redis/types.ts'
import { stateField } from '../../redis/vault.ts'
import { type Context, onceOf } from '../context.ts'
import type { BulkInput, BulkPreview, Call } from '../engine.ts'
import { checkedUrl } from '../jobs/checks.ts'
import { kindNameOf } from '../jobs/kind.ts'
import { isAddress } from '../remote/versions.ts'

export const BULK = { queue: 'sidejob.bulk', class: 'bulk' } as const
/** If a change of a tree is too large for one script, a job of this class continues it (branches.lua). */
export const FAMILY = { queue: 'sidejob.bulk', class: 'family' } as const

const SLICE = 200

/** Must match `bulk` in lib/run/ops/on_jobs.lua. */
const changes: Record<BulkInput['action'], (document: JobRecord, to?: string) => boolean> = {
  retry: ({ place }) => place === PLACE.failed,
  requeue: ({ place }) => place !== undefined && place !== PLACE.pull,
  terminate: ({ place, terminating }) => place !== PLACE.terminated && !terminating,
  delete: ({ deleteRequested }) => !deleteRequested,
  move: ({ pinnedTo, place }, to = '') =>
    pinnedTo !== undefined && pinnedTo !== to && isAddress(pinnedTo) === isAddress(to) && place !== PLACE.leased,
}

type Filter = NonNullable<BulkInput['filter']>

async function pageOf(store: Store, filter: Filter, before: string | undefined, limit = SLICE) {
  const { parent, queue, error, ...wanted } = filter
  const mode = parent === undefined ? ({ mode: 'all' } as const) : ({ mode: 'children', name: parent } as const)
  const status = error === undefined ? [wanted.status ?? []].flat().join(',') : 'failed'
  const { jobs, cursor, newest } = await store.list({ ...wanted, ...mode, status, queue, kind: error, before, limit })
  const matches = jobs
    .filter(({ document: { queue: q } }) => q !== BULK.queue && (queue === q || !isCallbackQueue(q!)))
    .filter(({ document }) => error === undefined || kindNameOf(document) === error)
  return { ids: matches.map(({ id }) => id), jobs: matches, looked: jobs.length, cursor, newest }
}

function namedSlice(named: readonly number[], before: string | undefined, limit = SLICE) {
  const left = [...new Set(named)].filter((id) => before === undefined || id < Number(before)).sort((a, b) => b - a)
  const ids = left.slice(0, limit)
  return { ids, cursor: left.length > limit ? String(ids.at(-1)) : null }
}

async function namedPage(store: Store, named: readonly number[], before: string | undefined, limit: number) {
  const { ids, cursor: next } = namedSlice(named, before, limit)
  const { jobs, cursor } = await store.list({ mode: 'ids', name: ids.join(','), limit })
  return { ids, jobs, looked: ids.length, cursor: cursor ?? next, newest: undefined }
}

export function createBulk(store: Store) {
  return async ({ id, document }: ClaimedJob): Promise<RunOutcome> => {
    const { filter, ids: named, action, to } = JSON.parse(document.args!) as BulkInput
    const ended = { token: document.token!, n: 0 } as const
    const kept = stateFieldOf(document, 'cursor')
    const before = kept === undefined ? undefined : (JSON.parse(kept) as string)
    const slice = named ? namedSlice(named, before) : await pageOf(store, filter!, before ?? String(id))
    const next = slice.cursor === null ? undefined : store.vault.seal(encodeValue(slice.cursor), stateField('cursor'))
    const words: Words = [
      ...(next === undefined ? [] : ops.set({ field: 'cursor', value: next })),
      ...ops.bulk({ act: action, jobs: slice.ids.map(String), to }),
    ]
    return { ...ended, end: next === undefined ? 'completed' : 'again', words }
  }
}

export const walkFamily = async ({ document }: ClaimedJob): Promise<RunOutcome> => ({
  token: document.token!,
  n: 0,
  end: 'completed',
  words: ops.family(),
})

const PREVIEWED = 10
const PAGE = 1_000

export function createBulkVerbs({ store, constraints, ring, announce, versions, allowHosts }: Context) {
  async function checkMove({ to }: BulkInput) {
    if (to === undefined) return
    if (isAddress(to)) return void checkedUrl(to, allowHosts, 'workers', ['to'])
    const names = await versions.names()
    if (names.includes(to)) return
    const known = names.length > 0 ? names.join(', ') : 'none'
    throw new SidejobError('REFUSED', `to: expected a version that a deployment has announced (${known}), got ${to}`, {
      path: ['to'],
    })
  }

  return {
    async start(input: BulkInput, call?: Call) {
      await announce()
      await checkMove(input)
      const args = encodeValue(input)
      const job = { ...BULK, known: true, args, keepResult: DAY, createdBy: 'bulk' }
      const { made, rings } = await constraints.enqueue([job], onceOf(call))
      await ring(rings)
      return made[0]!
    },

    async preview(
      { filter, ids, action, to }: BulkInput,
      { cursor, pages = PREVIEWED }: { cursor?: string; pages?: number } = {},
    ): Promise<BulkPreview> {
      await checkMove({ action, to })
      const counted: number[] = []
      let [looked, newest]: [number, number | undefined] = [0, undefined]
      let before: string | null | undefined = cursor
      for (let n = 0; n < pages && before !== null; n++) {
        const page: Awaited<ReturnType<typeof pageOf>> = ids
          ? await namedPage(store, ids, before, PAGE)
          : await pageOf(store, filter!, before, PAGE)
        for (const { id, document } of page.jobs) if (changes[action](document, to)) counted.push(id)
        looked += page.looked
        newest = page.newest
        before = page.cursor
      }
      const next = before ?? null
      return { fits: counted.length, looked, more: next !== null, ids: counted, cursor: next, newest }
    },
  }
}

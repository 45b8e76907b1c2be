// One act on many jobs: a job of our own that goes through all that fit a filter, a slice in each run. What a run does and
// where it has come to are one commit, so a run that is lost has done nothing to anybody.

import { type Encoded, encodeValue } from '../../core/codec/value.ts'
import type { RunOutcome } from '../../redis/changes.ts'
import { ops, type Words } from '../../redis/ops.ts'
import { stateFieldOf } from '../../redis/record.ts'
import type { Store } from '../../redis/store.ts'
import type { ClaimedJob } from '../../redis/types.ts'
import { stateField } from '../../redis/vault.ts'
import { type Context, onceOf } from '../context.ts'
import type { BulkInput, Engine } from '../engine.ts'
import { kindOfJob } from './errors.ts'

export const BULK = { queue: 'sidejob.bulk', class: 'bulk' } as const
/** What becomes of a family that is too large for one script; what its runs do is in Redis alone (lib/family/branches.lua). */
export const FAMILY = { queue: 'sidejob.bulk', class: 'family' } as const

const SLICE = 200
const DAY = 86_400_000

/** Jobs of our own are left alone by who does not ask for their queue. */
const isOurs = (queue: string): boolean => queue === 'sidejob' || queue.startsWith('sidejob.')

/** The jobs of a slice that fit, and where the next one begins. */
async function pageOf(
  store: Store,
  filter: NonNullable<BulkInput['filter']>,
  before: string | undefined,
  limit = SLICE,
) {
  const { parent, queue, error, ...wanted } = filter
  const mode = parent === undefined ? ({ mode: 'all' } as const) : ({ mode: 'children', name: parent } as const)
  const status = error === undefined ? [wanted.status ?? []].flat().join(',') : 'failed'
  const { jobs, cursor } = await store.list({ ...wanted, ...mode, status, queue, before, limit })
  const fits = jobs
    .filter(({ document: { queue: q } }) => q !== BULK.queue && (queue === q || !isOurs(q!)))
    .filter(({ document }) => error === undefined || kindOfJob(document).fingerprint === error)
  return { ids: fits.map(({ id }) => id), looked: jobs.length, cursor }
}

/**
 * Performs runs of such jobs.
 *
 * @example registry.serve(BULK, createBulk(store))
 */
export function createBulk(store: Store) {
  return async ({ id, document }: ClaimedJob): Promise<RunOutcome> => {
    const { filter, ids: named, action } = JSON.parse(document.args!) as BulkInput
    const ended = { token: document.token!, n: 0 } as const
    if (named) return { ...ended, end: 'completed', words: ops.bulk({ act: action, jobs: named.map(String) }) }
    // What is made after it was asked for is not meant.
    const cursor = stateFieldOf(document, 'cursor')
    const page = await pageOf(store, filter!, cursor === undefined ? String(id) : (JSON.parse(cursor) as string))
    const words: Words = ops.bulk({ act: action, jobs: page.ids.map(String) })
    if (page.cursor !== null)
      words.push(
        ...ops.set({ field: 'cursor', value: store.vault.seal(encodeValue(page.cursor), stateField('cursor')) }),
      )
    return { ...ended, end: page.cursor === null ? 'completed' : 'again', words }
  }
}

/** One run of such a job, as it is to be committed. */
export const goThroughFamily = async ({ document }: ClaimedJob): Promise<RunOutcome> => ({
  token: document.token!,
  n: 0,
  end: 'completed',
  words: ops.family(),
})

/** A preview looks at so many jobs that fit, a page at a time. */
const PREVIEWED = 10
const PAGE = 1_000

export function createBulkVerbs({ store, tags, ring, announce }: Context): Pick<Engine, 'bulk' | 'bulkPreview'> {
  return {
    async bulk(input, call) {
      await announce()
      const args = encodeValue(input) as Encoded
      const job = { ...BULK, known: true, args, keepResult: DAY, createdBy: 'bulk' }
      const { made, rings } = await tags.enqueue([job], onceOf(call))
      await ring(rings)
      return made[0]!
    },

    async bulkPreview({ filter, ids }) {
      if (ids) return { fits: ids.length, looked: ids.length, more: false }
      const sum = { fits: 0, looked: 0, more: false }
      let before: string | null | undefined
      for (let page = 0; page < PREVIEWED && before !== null; page++) {
        const found = await pageOf(store, filter!, before, PAGE)
        sum.fits += found.ids.length
        sum.looked += found.looked
        before = found.cursor
      }
      return { ...sum, more: before !== null }
    },
  }
}

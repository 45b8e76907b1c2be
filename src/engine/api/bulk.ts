// One act on many jobs: a job of our own that goes through all that fit a filter, a slice in each run. What a run does and
// where it has come to are one commit, so a run that is lost has done nothing to anybody.

import { type Encoded, encodeValue } from '../../core/codec/value.ts'
import type { RunOutcome, Words } from '../../redis/changes.ts'
import { stateFieldOf } from '../../redis/record.ts'
import type { Store } from '../../redis/store.ts'
import type { ClaimedJob } from '../../redis/types.ts'
import { type Context, onceOf } from '../context.ts'
import type { BulkInput, Engine } from '../engine.ts'

export const BULK = { queue: 'sidejob.bulk', class: 'bulk' } as const
/** What becomes of a family that is too large for one script; what its runs do is in Redis alone (lib/family/branches.lua). */
export const FAMILY = { queue: 'sidejob.bulk', class: 'family' } as const

const SLICE = 200
const DAY = 86_400_000

/** Jobs of our own are left alone by who does not ask for their queue. */
const isOurs = (queue: string): boolean => queue === 'sidejob' || queue.startsWith('sidejob.')

/**
 * Performs runs of such jobs.
 *
 * @example registry.serve(BULK, createBulk(store))
 */
export function createBulk(store: Store) {
  return async ({ id, document }: ClaimedJob): Promise<RunOutcome> => {
    const { filter, action } = JSON.parse(document.args!) as BulkInput
    const { parent, queue, ...wanted } = filter
    const mode = parent === undefined ? ({ mode: 'all' } as const) : ({ mode: 'children', name: parent } as const)
    // What is made after it was asked for is not meant.
    const cursor = stateFieldOf(document, 'cursor')
    const before = cursor === undefined ? String(id) : (JSON.parse(cursor) as string)
    const page = await store.list({ ...wanted, ...mode, queue, before, limit: SLICE })
    const ids = page.jobs.filter(({ document: { queue: q } }) => q !== BULK.queue && (queue === q || !isOurs(q!)))
    const words: Words = ['bulk', action, String(ids.length), ...ids.map((job) => String(job.id))]
    if (page.cursor !== null) words.push('set', 'cursor', encodeValue(page.cursor))
    return { token: document.token!, n: 0, end: page.cursor === null ? 'completed' : 'again', words }
  }
}

/** One run of such a job, as it is to be committed. */
export const goThroughFamily = async ({ document }: ClaimedJob): Promise<RunOutcome> => ({
  token: document.token!,
  n: 0,
  end: 'completed',
  words: ['family'],
})

export function createBulkVerbs({ tags, ring, announce }: Context): Pick<Engine, 'bulk'> {
  return {
    async bulk(input, call) {
      await announce()
      const args = encodeValue(input) as Encoded
      const job = { ...BULK, known: true, args, keepResult: DAY, createdBy: 'bulk' }
      const { made, rings } = await tags.enqueue([job], onceOf(call))
      await ring(rings)
      return made[0]!
    },
  }
}

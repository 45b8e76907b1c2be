// Imports any number of rows, one page per run. If a run is lost, only its page is imported again.

import * as z from 'zod'
import { defineWorker } from '../../src/index.ts'

type Page = { rows: string[]; next: string | null }
export const source = { page: async (_cursor: string): Promise<Page> => ({ rows: [], next: null }) }
export const target = { upsert: async (_rows: string[], _key: string): Promise<void> => undefined }

export const importRows = defineWorker({
  class: 'import_rows',
  result: z.number(),
  retry: { max: 10 },
  async perform(job) {
    const cursor = job.get<string>('cursor') ?? ''
    const { rows, next } = await source.page(cursor)
    await target.upsert(rows, job.effectKey(cursor))
    const done = (job.get<number>('done') ?? 0) + rows.length
    job.progress({ done })
    if (next === null) return done
    job.set({ cursor: next, done })
    return job.again()
  },
})

// Indexes a page thirty seconds after its last change, or every five minutes if it keeps changing.

import * as z from 'zod'
import { defineWorker } from '../../src/index.ts'

export const reindex = defineWorker({
  class: 'reindex',
  args: z.object({ page: z.string(), version: z.number() }),
  result: z.string(),
  perform: (job) => `${job.args.page} at version ${job.args.version}`,
})

/** Returns the job to create for each change of a page. */
export const changed = (page: string, version: number) => ({
  class: 'reindex',
  args: { page, version },
  unique: { key: page, debounce: { wait: '30s', max: '5m' } },
})

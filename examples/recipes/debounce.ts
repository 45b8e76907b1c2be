// Indexes a page once it has not been changed for thirty seconds, and every five minutes where it never rests.

import * as z from 'zod'
import { defineWorker } from '../../src/index.ts'

export const reindex = defineWorker({
  class: 'reindex',
  args: z.object({ page: z.string(), version: z.number() }),
  result: z.string(),
  perform: (job) => `${job.args.page} at version ${job.args.version}`,
})

/** The job for each change of a page. */
export const changed = (page: string, version: number) => ({
  class: 'reindex',
  args: { page, version },
  unique: { key: page, debounce: { wait: '30s', max: '5m' } },
})

// Handles each webhook event once, even if it is sent several times.

import * as z from 'zod'
import { defineWorker } from '../../src/index.ts'

export const handleEvent = defineWorker({
  class: 'handle_event',
  args: z.object({ id: z.string(), type: z.string() }),
  result: z.string(),
  retry: { max: 5 },
  perform: (job) => `${job.args.type} of ${job.args.id}`,
})

/** Returns the job for an event. For a week, another event with the same id returns the same job. */
export const eventJob = (event: { id: string; type: string }) => ({
  class: 'handle_event',
  args: event,
  unique: { key: event.id, for: '7 days' },
})

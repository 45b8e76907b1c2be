// Calls an API that allows ten requests per second and two at a time, across all callers.

import * as z from 'zod'
import { defineWorker, Later } from '../../src/index.ts'

export const api = { address: 'https://api.example.com/contacts/' }

export const syncContact = defineWorker({
  class: 'sync_contact',
  args: z.object({ id: z.string() }),
  limits: [{ key: 'api.example.com', concurrency: 2, rate: { limit: 10, period: 1_000 } }],
  retry: { max: 5, backoff: { base: 1_000 } },
  async perform(job) {
    const answer = await fetch(`${api.address}${job.args.id}`, { method: 'PUT', signal: job.signal })
    // Obey the API, even if our own limit allows a request earlier.
    if (answer.status === 429)
      throw new Later('the API is busy', { after: Number(answer.headers.get('retry-after') ?? 30) * 1_000 })
    if (!answer.ok) throw new Error(`expected a contact to be stored, got ${answer.status}`)
  },
})

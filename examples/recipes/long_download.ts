// Downloads a file of any size, one part per run. If a run is lost, only its part is downloaded again.

import * as z from 'zod'
import { defineWorker, Terminal } from '../../src/index.ts'

/** A part must fit into the memory of an invocation. */
export const parts = {
  size: 8 * 1024 * 1024,
  store: async (_number: number, _bytes: ArrayBuffer): Promise<void> => undefined,
}

export const fetchLong = defineWorker({
  class: 'fetch_long',
  args: z.object({ url: z.string() }),
  result: z.object({ bytes: z.number(), parts: z.number() }),
  retry: { max: 20 },
  async perform(job) {
    const from = job.get<number>('from') ?? 0
    const headers = { range: `bytes=${from}-${from + parts.size - 1}` }
    const answer = await fetch(job.args.url, { headers, signal: job.signal })
    if (answer.status !== 206) throw new Error(`expected a part of the file (206), got ${answer.status}`)
    const etag = answer.headers.get('etag')
    if (from > 0 && etag !== job.get('etag')) throw new Terminal('the file has changed since its first part')
    const bytes = await answer.arrayBuffer()
    await parts.store(from / parts.size + 1, bytes)
    const total = Number(answer.headers.get('content-range')!.split('/')[1])
    const done = from + bytes.byteLength
    job.progress({ done, total })
    if (done >= total) return { bytes: done, parts: Math.ceil(done / parts.size) }
    job.set({ from: done, etag })
    return job.again()
  },
})

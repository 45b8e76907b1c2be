import { defineWorker } from 'sidejob'
import * as z from 'zod'

/** Calls the Python worker and reports its result. */
export const report = defineWorker({
  class: 'report',
  args: z.object({ text: z.string() }),
  async perform(job) {
    const { text } = job.args
    const shouted = await job.callWorker({ queue: 'python', class: 'shout' }, { text })
    return { text, shouted }
  },
})

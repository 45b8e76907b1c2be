import { defineWorker } from 'sidejob'

/** Has a text shouted by the Python worker, and reports what came of it. */
export const report = defineWorker({
  class: 'report',
  async perform(job) {
    const { text } = job.args as { text: string }
    const shouted = await job.callWorker({ queue: 'python', class: 'shout' }, { text })
    return { text, shouted }
  },
})

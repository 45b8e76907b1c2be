import { defineWorker } from 'sidejob'

/** Calls the Python worker and reports its result. */
export const report = defineWorker({
  class: 'report',
  async perform(job) {
    const { text } = job.args as { text: string }
    const shouted = await job.callWorker({ queue: 'python', class: 'shout' }, { text })
    return { text, shouted }
  },
})

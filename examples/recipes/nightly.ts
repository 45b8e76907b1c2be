// Creates a report each night, and catches up on nights missed during an outage.

import { defineWorker } from '../../src/index.ts'

export const reports = { save: async (_night: string): Promise<void> => undefined }

export const nightlyReport = defineWorker({
  class: 'nightly_report',
  cron: { expression: '15 3 * * *', tz: 'Europe/Berlin', missed: 'run' },
  async perform(job) {
    // The scheduled night, not the time of the run.
    const night = job.scheduledFor ?? job.startedAt
    await reports.save(night.toISOString().slice(0, 10))
  },
})

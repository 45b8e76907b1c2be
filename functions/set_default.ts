import { defineWorker, port } from '../src/index.ts'

export const setDefault = defineWorker({
  queue: 'core',
  class: 'set_default',
  description:
    'Makes the last value that came in the default of out; the default of in, where it has one, goes before.',
  in: { in: port() },
  out: { out: port() },
  async perform(job) {
    let value: unknown
    while (job.size('in') > 0) value = await job.read('in')
    if (job.hasData('in')) value = job.default('in')
    if (value !== undefined) job.setDefault('out', value)
  },
})

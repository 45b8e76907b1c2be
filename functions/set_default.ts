import { port } from '../src/index.ts'
import { defineFunction } from './library.ts'

export const setDefault = defineFunction({
  class: 'set_default',
  description: 'Sets the default of "out" to the default of "in", or to the last value of "in" if it has no default.',
  in: { in: port() },
  out: { out: port() },
  async perform(job) {
    let value: unknown
    while (job.size('in') > 0) value = await job.read('in')
    if (job.hasData('in')) value = job.default('in')
    if (value !== undefined) job.setDefault('out', value)
  },
})

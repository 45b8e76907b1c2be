import { port } from '../src/index.ts'
import { defineFunction } from './library.ts'

export const wait = defineFunction({
  class: 'wait',
  description: 'Passes on one value of "in" each time a value arrives at "trigger".',
  in: { trigger: port(), in: port() },
  out: { out: port() },
  async perform(job) {
    for await (const { in: value } of job.inputs('trigger', 'in')) job.write('out', value)
  },
})

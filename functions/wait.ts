import { defineWorker, port } from '../src/index.ts'

export const wait = defineWorker({
  queue: 'core',
  class: 'wait',
  description: 'Lets one value pass for every value, whatever it is, that comes in on trigger.',
  in: { trigger: port(), in: port() },
  out: { out: port() },
  async perform(job) {
    for await (const { in: value } of job.inputs('trigger', 'in')) job.write('out', value)
  },
})

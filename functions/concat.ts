import * as z from 'zod'
import { defineWorker, port } from '../src/index.ts'

export const concat = defineWorker({
  queue: 'core',
  class: 'concat',
  description: 'Joins one list of every input port into a single list, in the order of the names of the ports.',
  in: { '*': port(z.array(z.unknown())) },
  out: { out: port(z.array(z.unknown())) },
  async perform(job) {
    const ports = job.inPorts()
    for await (const lists of job.inputs(...ports))
      job.write(
        'out',
        ports.flatMap((name) => lists[name]!),
      )
  },
})

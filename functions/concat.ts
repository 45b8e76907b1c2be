import * as z from 'zod'
import { port } from '../src/index.ts'
import { defineFunction } from './library.ts'

export const concat = defineFunction({
  class: 'concat',
  description: 'Joins one list from each input port into a single list, in the order of the port names.',
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

import * as z from 'zod'
import { port } from '../src/index.ts'
import { defineFunction } from './library.ts'

export const array = defineFunction({
  class: 'array',
  description: 'Collects one value from each input port into a list, in the order of the port names.',
  in: { '*': port() },
  out: { out: port(z.array(z.unknown())) },
  async perform(job) {
    const ports = job.inPorts()
    for await (const values of job.inputs(...ports))
      job.write(
        'out',
        ports.map((name) => values[name]),
      )
  },
})

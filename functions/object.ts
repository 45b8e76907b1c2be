import * as z from 'zod'
import { port } from '../src/index.ts'
import { defineFunction } from './library.ts'

export const object = defineFunction({
  class: 'object',
  description: 'Collects one value from each input port into an object, with the port names as keys.',
  in: { '*': port() },
  out: { out: port(z.record(z.string(), z.unknown())) },
  async perform(job) {
    for await (const values of job.inputs(...job.inPorts())) job.write('out', values)
  },
})

import * as z from 'zod'
import { port } from '../src/index.ts'
import { defineFunction } from './library.ts'

export const keyValue = defineFunction({
  class: 'key_value',
  description:
    'Writes each value of an object to the output port that has the name of its key, and ignores keys without a port.',
  in: { in: port(z.record(z.string(), z.unknown())) },
  out: { '*': port() },
  async perform(job) {
    const ports = new Set(job.outPorts())
    for await (const { in: object } of job.inputs('in'))
      for (const [key, value] of Object.entries(object)) if (ports.has(key)) job.write(key, value)
  },
})

import * as z from 'zod'
import { port } from '../src/index.ts'
import { defineFunction } from './library.ts'

const collection = z.union([z.array(z.unknown()), z.record(z.string(), z.unknown())], 'expected a list or an object')

export const each = defineFunction({
  class: 'each',
  description: 'Writes the elements of a list one by one, or the entries of an object, each as [key, value].',
  in: { in: port(collection) },
  out: { out: port() },
  async perform(job) {
    for await (const { in: elements } of job.inputs('in'))
      for (const element of Array.isArray(elements) ? elements : Object.entries(elements)) job.write('out', element)
  },
})

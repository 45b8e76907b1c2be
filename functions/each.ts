import { port } from '../src/index.ts'
import { collection, defineFunction, elementsOf } from './library.ts'

export const each = defineFunction({
  class: 'each',
  description: 'Writes the elements of a list one by one, or the entries of an object, each as [key, value].',
  in: { in: port(collection) },
  out: { out: port() },
  async perform(job) {
    for await (const { in: given } of job.inputs('in'))
      for (const element of elementsOf(given)) job.write('out', element)
  },
})

import * as z from 'zod'
import { port, Terminal } from '../src/index.ts'
import { collection, defineFunction, elementsOf } from './library.ts'

export const map = defineFunction({
  class: 'map',
  description:
    'Writes the elements of a list to output port "each", and collects one result for each element from input port "each".',
  in: { in: port(collection), each: port() },
  out: { each: port(), out: port(z.array(z.unknown())) },
  async perform(job) {
    let n = job.get<number>('n')
    let values = job.get<unknown[]>('values') ?? []
    for (;;) {
      if (n === undefined) {
        if (job.default('in') !== undefined)
          throw new Terminal('input port "in" cannot have a default, because no run would read it: remove the default')
        if (job.size('in') === 0) return job.unset('n', 'values')
        const elements = elementsOf((await job.read('in'))!)
        for (const element of elements) job.write('each', element)
        n = elements.length
      }
      while (values.length < n && job.hasData('each')) values.push(await job.read('each'))
      if (values.length < n) {
        job.set({ n, values })
        return job.suspend()
      }
      job.write('out', values)
      n = undefined
      values = []
    }
  },
})

import { port } from '../src/index.ts'
import { defineFunction } from './library.ts'

export const connect = defineFunction({
  class: 'connect',
  description: 'Moves all values from "in" to "out" in order, and copies the default of "in".',
  in: { in: port() },
  out: { out: port() },
  perform(job) {
    job.connect({ in: 'in' }, { out: 'out' })
    // A commit moves at most 5,000 values, so another run moves the remaining values.
    if (job.size('in') > 5_000) return job.again()
  },
})

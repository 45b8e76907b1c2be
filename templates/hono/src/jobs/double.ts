import { defineWorker, port } from 'sidejob'
import * as z from 'zod'

/** Doubles each number of its input port. */
export const double = defineWorker({
  class: 'double',
  in: { n: port(z.number()) },
  out: { doubled: port(z.number()) },
  async perform(job) {
    for await (const { n } of job.inputs('n')) job.write('doubled', n * 2)
  },
})

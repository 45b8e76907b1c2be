import * as z from 'zod'
import { port } from '../src/index.ts'
import { defineFunction } from './library.ts'
import { checkRoom, sizeOf } from './room.ts'

export const repeat = defineFunction({
  class: 'repeat',
  description: 'Writes a list with several copies of a value.',
  isolate: true,
  in: { times: port(z.number().min(0).max(100_000)), in: port() },
  out: { out: port(z.array(z.unknown())) },
  async perform(job) {
    for await (const { times, in: value } of job.inputs('times', 'in')) {
      const n = Math.trunc(times)
      checkRoom({ elements: n, bytes: n * sizeOf(value) })
      job.write('out', Array.from({ length: n }).fill(value))
    }
  },
})

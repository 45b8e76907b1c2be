import * as z from 'zod'
import { port } from '../src/index.ts'
import { defineFunction } from './library.ts'
import { checkRoom } from './room.ts'

const lists = z.array(z.array(z.unknown()))

export const zip = defineFunction({
  class: 'zip',
  description: 'Groups the elements of several lists by position: the first group has the first element of each list.',
  in: { in: port(lists.min(1, 'expected at least one list')) },
  out: { out: port(lists) },
  async perform(job) {
    for await (const { in: rows } of job.inputs('in')) {
      // Each cell takes at least two bytes: a digit and a comma.
      checkRoom({ bytes: 2 * rows.length * rows[0]!.length })
      job.write(
        'out',
        rows[0]!.map((_, i) => rows.map((row) => row[i] ?? null)),
      )
    }
  },
})

import * as z from 'zod'
import { defineWorker, port, Terminal } from '../src/index.ts'

const MAX = 100_000
const lists = z.array(z.array(z.unknown()))

/** Every choice of one element of each list. */
const choices = (lists: unknown[][]): unknown[][] =>
  lists.reduce<unknown[][]>((all, list) => all.flatMap((chosen) => list.map((element) => [...chosen, element])), [[]])

export const product = defineWorker({
  queue: 'core',
  class: 'product',
  description: 'All ways to take one element of each of several lists; the first list varies slowest.',
  in: { in: port(lists.min(1, 'expected at least one list')) },
  out: { out: port(lists) },
  async perform(job) {
    for await (const { in: factors } of job.inputs('in')) {
      const size = factors.reduce((size, { length }) => size * length, 1)
      if (size > MAX) throw new Terminal(`${size} lists, more than ${MAX}: too many for one value`)
      job.write('out', size === 0 ? [] : choices(factors))
    }
  },
})

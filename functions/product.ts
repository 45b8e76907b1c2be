import * as z from 'zod'
import { port } from '../src/index.ts'
import { defineFunction } from './library.ts'
import { checkRoom, sizeOf } from './room.ts'

const lists = z.array(z.array(z.unknown()))

const choices = (lists: unknown[][]): unknown[][] =>
  lists.reduce<unknown[][]>((all, list) => all.flatMap((chosen) => list.map((element) => [...chosen, element])), [[]])

function countChoices(lists: unknown[][]): number {
  const n = lists.reduce((size, { length }) => size * length, 1)
  const bytes = lists.reduce((sum, list) => sum + (n / Math.max(1, list.length)) * sizeOf(list), 0)
  checkRoom({ elements: n * lists.length, bytes })
  return n
}

export const product = defineFunction({
  class: 'product',
  description: 'Lists all ways to select one element from each of several lists. The last list varies fastest.',
  isolate: true,
  in: { in: port(lists.min(1, 'expected at least one list')) },
  out: { out: port(lists) },
  async perform(job) {
    for await (const { in: factors } of job.inputs('in')) {
      job.write('out', countChoices(factors) === 0 ? [] : choices(factors))
    }
  },
})

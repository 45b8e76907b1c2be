import * as z from 'zod'
import { port } from '../src/index.ts'
import { collection, defineFunction, elementsOf } from './library.ts'

const depth = (level: unknown, otherwise: number): number => {
  if (typeof level !== 'number') return otherwise
  return level < 0 ? Number.POSITIVE_INFINITY : Math.trunc(level)
}

export const flatten = defineFunction({
  class: 'flatten',
  description:
    'Flattens nested lists, completely or by a number of levels. An object becomes the list [key, value, …].',
  in: { in: port(collection), level: port(z.unknown(), { default: null }) },
  out: { out: port(z.array(z.unknown())) },
  async perform(job) {
    for await (const { in: given, level } of job.inputs('in', 'level'))
      job.write('out', elementsOf(given).flat(depth(level, Array.isArray(given) ? Number.POSITIVE_INFINITY : 1)))
  },
})

import * as z from 'zod'
import { port } from '../src/index.ts'
import { defineFunction } from './library.ts'
import { checkRoom, sizeOf } from './room.ts'

const MAX = 100_000
const SIZE = `expected a number from 1 to ${MAX}`
const size = z.number(SIZE).min(1, SIZE).max(MAX, SIZE)

export const groupsOf = defineFunction({
  class: 'groups_of',
  description: 'Cuts a list into groups of equal size, and can pad the last group.',
  in: { in: port(z.array(z.unknown())), size: port(size), fill: port(z.unknown(), { default: false }) },
  out: { out: port(z.array(z.array(z.unknown()))) },
  async perform(job) {
    for await (const { in: elements, size, fill } of job.inputs('in', 'size', 'fill')) {
      const step = Math.trunc(size)
      const groups: unknown[][] = []
      for (let i = 0; i < elements.length; i += step) groups.push(elements.slice(i, i + step))
      const last = groups.at(-1)
      if (last && fill !== false) {
        checkRoom({ bytes: (step - last.length) * sizeOf(fill) })
        while (last.length < step) last.push(fill)
      }
      job.write('out', groups)
    }
  },
})

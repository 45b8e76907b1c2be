import * as z from 'zod'
import { port } from '../src/index.ts'
import { defineFunction } from './library.ts'
import { checkRoom, sizeOf } from './room.ts'

type Choice = { ordered: boolean; repeat: boolean }

const rest = (from: unknown[], i: number, { ordered, repeat }: Choice): unknown[] => {
  if (ordered) return repeat ? from : from.toSpliced(i, 1)
  return from.slice(repeat ? i : i + 1)
}

function* lists(from: unknown[], n: number, choice: Choice, chosen: unknown[] = []): Generator<unknown[]> {
  if (n === 0) yield chosen
  if (n <= 0 || (!choice.repeat && n > from.length)) return
  for (const [i, element] of from.entries()) yield* lists(rest(from, i, choice), n - 1, choice, [...chosen, element])
}

export const permutation = defineFunction({
  class: 'permutation',
  description: 'Lists all ways to select "n" elements from a list.',
  isolate: true,
  in: {
    ordered: port(z.unknown(), { default: false }),
    repeat: port(z.unknown(), { default: false }),
    n: port(z.number().max(1_000)),
    in: port(z.array(z.unknown())),
  },
  out: { out: port(z.array(z.array(z.unknown()))) },
  async perform(job) {
    for await (const { ordered, repeat, n, in: elements } of job.inputs('ordered', 'repeat', 'n', 'in')) {
      const found: unknown[][] = []
      let bytes = 0
      for (const list of lists(elements, Math.trunc(n), { ordered: ordered === true, repeat: repeat === true })) {
        found.push(list)
        bytes += sizeOf(list)
        checkRoom({ elements: found.length * Math.max(1, list.length), bytes })
      }
      job.write('out', found)
    }
  },
})

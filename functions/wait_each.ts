import * as z from 'zod'
import { type Job, port } from '../src/index.ts'
import { defineFunction } from './library.ts'

const keyOf = (value: unknown): string =>
  JSON.stringify(value, (_, shown) => {
    if (typeof shown === 'bigint') return { $int: String(shown) }
    if (typeof shown !== 'object' || shown === null || Array.isArray(shown)) return shown
    return Object.fromEntries(Object.entries(shown).sort(([a], [b]) => (a < b ? -1 : 1)))
  })

function without(values: unknown[], elements: unknown[]): unknown[] | undefined {
  const wanted = new Map<string, number>()
  for (const key of elements.map(keyOf)) wanted.set(key, (wanted.get(key) ?? 0) + 1)
  const left = values.filter((value) => {
    const key = keyOf(value)
    const n = wanted.get(key) ?? 0
    if (n > 0) wanted.set(key, n - 1)
    return n === 0
  })
  return values.length - left.length === elements.length ? left : undefined
}

/** Reads an empty default list only once, because the loop would otherwise write it forever. */
async function next(job: Job): Promise<unknown[] | undefined> {
  const again = job.size('in') === 0 && job.default('in')?.length === 0
  if (again && job.get('empty')) return undefined
  if (again) job.set({ empty: true })
  return job.read('in')
}

export const waitEach = defineFunction({
  class: 'wait_each',
  description: 'Holds back a list until each of its elements has arrived at port "each", in any order.',
  in: { each: port(), in: port(z.array(z.unknown())) },
  out: { out: port(z.array(z.unknown())) },
  async perform(job) {
    let received = job.get<unknown[]>('received') ?? []
    let list = job.get<unknown[]>('array')
    while ((list ??= await next(job))) {
      while (job.size('each') > 0) received.push(await job.read('each'))
      const left = without(received, list)
      job.set({ array: list, received })
      if (!left) return job.suspend()
      job.write('out', list)
      job.unset('array')
      job.set({ received: (received = left) })
      list = undefined
    }
  },
})

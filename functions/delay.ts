import * as z from 'zod'
import { port } from '../src/index.ts'
import { defineFunction } from './library.ts'

type Waiting = { data: unknown; time: number }

const CENTURY = 3_155_760_000

export const delay = defineFunction({
  class: 'delay',
  description: 'Passes on each value after a delay in seconds.',
  in: { delay: port(z.number().max(CENTURY)), in: port() },
  out: { out: port() },
  async perform(job) {
    const now = Number(job.startedAt)
    const queue = job.get<Waiting[]>('wait_queue') ?? []
    for await (const { delay, in: data } of job.inputs('delay', 'in'))
      queue.push({ data, time: Math.ceil(now + delay * 1000) })
    queue.sort((a, b) => a.time - b.time)
    const later = queue.filter(({ time }) => time > now)
    for (const { data } of queue.slice(0, queue.length - later.length)) job.write('out', data)
    if (later.length === 0) return job.unset('wait_queue')
    job.set({ wait_queue: later })
    // The new timer replaces the old one, so wake-ups do not accumulate.
    return job.again({ at: later[0]!.time })
  },
})

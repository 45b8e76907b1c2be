// Jobs without real work, in typical shapes: one reads and writes, one has many children, one creates a successor.

import * as z from 'zod'
import { defineWorker, port } from '../../src/index.ts'
import { noop } from './noop.ts'

export const passOn = defineWorker({
  class: 'pass_on',
  description: 'Writes each value that it reads.',
  in: { n: port(z.number()) },
  out: { n: port(z.number()) },
  retain: 0,
  async perform(job) {
    for await (const { n } of job.inputs('n')) job.write('n', n)
  },
})

export const fanOut = defineWorker({
  class: 'fan_out',
  description: 'Creates args.n children that do nothing, and completes when all of them have completed.',
  args: z.object({ n: z.number() }),
  retain: 0,
  perform(job) {
    const made = Object.keys(job.children).length
    for (let i = made; i < job.args.n; i++) job.spawn(`child ${i}`, noop)
    if (made === 0) return job.suspend({ waitFor: 'children' })
  },
})

export const countdown = defineWorker({
  class: 'countdown',
  description: 'Creates the next job, args.left times, and detaches it.',
  args: z.object({ left: z.number() }),
  retain: 0,
  perform(job) {
    const { left } = job.args
    if (left === 0) return
    job.spawn('next', { class: 'countdown' }, { args: { left: left - 1 } })
    job.op({ op: 'disown', child: 'next' })
  },
})

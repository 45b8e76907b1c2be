// Reads lines of orders, skips invalid lines, and sums the rest, with three jobs that a graph connects.

import * as z from 'zod'
import { defineWorker, port } from '../../src/index.ts'

const order = z.object({ country: z.string(), amount: z.number() })

export const extract = defineWorker({
  class: 'extract',
  in: { text: port(z.string()) },
  out: { line: port(z.string()) },
  async perform(job) {
    for await (const { text } of job.inputs('text')) for (const line of text.split('\n')) job.write('line', line)
  },
})

export const transform = defineWorker({
  class: 'transform',
  in: { line: port(z.string()) },
  out: { order: port(order), rejected: port(z.string()) },
  async perform(job) {
    for await (const { line } of job.inputs('line')) {
      const [country = '', amount = ''] = line.split(',')
      if (country && Number(amount) > 0) job.write('order', { country, amount: Number(amount) })
      else job.write('rejected', line)
    }
  },
})

export const load = defineWorker({
  class: 'load',
  in: { order: port(order) },
  out: { totals: port(z.record(z.string(), z.number())) },
  async perform(job) {
    const totals = { ...job.get<Record<string, number>>('totals') }
    for await (const { order } of job.inputs('order'))
      totals[order.country] = (totals[order.country] ?? 0) + order.amount
    job.set({ totals })
    job.setDefault('totals', totals)
  },
})

const wire = (from: string, port: string, to: string) => ({
  from: { node: from, outport: port },
  to: { node: to, inport: port },
})

/** Returns a flow that runs the graph. Its input is `text`, its outputs are `totals` and `rejected`. */
export const ordersFlow = (text: string) => ({
  queue: 'core',
  class: 'flow',
  inputs: {
    __graph: [
      {
        nodes: { extract: { class: 'extract' }, transform: { class: 'transform' }, load: { class: 'load' } },
        edges: [wire('extract', 'line', 'transform'), wire('transform', 'order', 'load')],
        inports: { text: { node: 'extract', inport: 'text' } },
        outports: {
          totals: { node: 'load', outport: 'totals' },
          rejected: { node: 'transform', outport: 'rejected' },
        },
      },
    ],
    text: [text],
  },
})

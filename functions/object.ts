import * as z from 'zod'
import { defineWorker, port } from '../src/index.ts'

export const object = defineWorker({
  queue: 'core',
  class: 'object',
  description: 'Gathers one value of every input port into an object, with the names of the ports as its keys.',
  in: { '*': port() },
  out: { out: port(z.record(z.string(), z.unknown())) },
  async perform(job) {
    for await (const values of job.inputs(...job.inPorts())) job.write('out', values)
  },
})

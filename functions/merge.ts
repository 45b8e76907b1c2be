import * as z from 'zod'
import { port } from '../src/index.ts'
import { defineFunction } from './library.ts'

const object = z.record(z.string(), z.unknown())

export const merge = defineFunction({
  class: 'merge',
  description:
    'Merges one object from each input port into a single object. If several objects have the same key, the last port wins, in the order of the port names.',
  in: { '*': port(object) },
  out: { out: port(object) },
  async perform(job) {
    const ports = job.inPorts()
    for await (const objects of job.inputs(...ports))
      job.write('out', Object.fromEntries(ports.flatMap((name) => Object.entries(objects[name]!))))
  },
})

import * as z from 'zod'
import { defineWorker, port } from '../src/index.ts'

const object = z.record(z.string(), z.unknown())

export const merge = defineWorker({
  queue: 'core',
  class: 'merge',
  description: 'Merges one object of every input port into one; of a key that several have, the last port counts.',
  in: { '*': port(object) },
  out: { out: port(object) },
  async perform(job) {
    const ports = job.inPorts()
    for await (const objects of job.inputs(...ports))
      job.write('out', Object.fromEntries(ports.flatMap((name) => Object.entries(objects[name]!))))
  },
})

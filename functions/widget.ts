import { port } from '../src/index.ts'
import { defineFunction } from './library.ts'

export const widget = defineFunction({
  class: 'widget',
  description:
    'Represents a page or a person that reads and writes the ports of the job through the API. The job is always suspended.',
  in: { '*': port() },
  out: { '*': port() },
  perform: (job) => job.suspend(),
})

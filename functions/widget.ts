import { defineWorker, port } from '../src/index.ts'

export const widget = defineWorker({
  queue: 'core',
  class: 'widget',
  description: 'Represents a page or a person that reads and writes its ports through the API.',
  in: { '*': port() },
  out: { '*': port() },
  perform: (job) => job.suspend(),
})

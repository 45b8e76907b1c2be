import { defineWorker, port } from '../src/index.ts'

export const widget = defineWorker({
  queue: 'core',
  class: 'widget',
  description: 'Stands for somebody outside, a page or a person, who reads and writes its ports through the API.',
  in: { '*': port() },
  out: { '*': port() },
  perform: (job) => job.suspend(),
})

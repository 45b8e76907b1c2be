import { defineWorker, port } from '../src/index.ts'

export const placeholder = defineWorker({
  queue: 'core',
  class: 'placeholder',
  description: 'Does nothing: a place in a flow for what is yet to come. What is written to it stays there.',
  in: { '*': port() },
  out: { '*': port() },
  perform() {},
})

import { defineWorker, port } from '../src/index.ts'

export const placeholder = defineWorker({
  queue: 'core',
  class: 'placeholder',
  description: 'Does nothing: a placeholder for a future node of a flow. Values written to it stay there.',
  in: { '*': port() },
  out: { '*': port() },
  perform() {},
})

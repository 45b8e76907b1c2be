import { defineWorker, port } from '../src/index.ts'

export const placeholder = defineWorker({
  queue: 'core',
  class: 'placeholder',
  description:
    'Reserves a node of a flow for a class that you choose later. It does nothing, and values stay in its ports.',
  in: { '*': port() },
  out: { '*': port() },
  perform() {},
})

import { defineWorker } from '../../src/index.ts'

export const noop = defineWorker({
  class: 'noop',
  description: 'Does nothing, and is gone at once: what a run costs when it does no work.',
  retain: 0,
  perform() {},
})

import { defineWorker } from '../../src/index.ts'

export const noop = defineWorker({
  class: 'noop',
  description: 'Does nothing, and is deleted immediately. Shows the cost of a run without work.',
  retain: 0,
  perform() {},
})

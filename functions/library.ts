import { defineWorker } from '../src/index.ts'

/** Flows rely on this: if a run refuses a value, the value stays at its port. */
export const defineFunction: typeof defineWorker = (worker) =>
  defineWorker({ queue: 'core', checked: 'run', ...worker })

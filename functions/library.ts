import { defineWorker } from '../src/index.ts'

/** If a run refuses a value, the value stays at its port. Flows need this. */
export const defineFunction: typeof defineWorker = (worker) =>
  defineWorker({ queue: 'core', checked: 'run', ...worker })

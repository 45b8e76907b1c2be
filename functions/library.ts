import { defineWorker } from '../src/index.ts'

/** `checked: 'run'`: a value that does not match the schema stays at its port and fails the run. Flows need this. */
export const defineFunction: typeof defineWorker = (worker) =>
  defineWorker({ queue: 'core', checked: 'run', ...worker })

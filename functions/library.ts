import * as z from 'zod'
import { defineWorker } from '../src/index.ts'

export const collection = z.union(
  [z.array(z.unknown()), z.record(z.string(), z.unknown())],
  'expected a list or an object',
)

export const elementsOf = (given: z.output<typeof collection>): unknown[] =>
  Array.isArray(given) ? given : Object.entries(given)

/** `checked: 'run'`: a value that does not match the schema stays at its port and fails the run. Flows need this. */
export const defineFunction: typeof defineWorker = (worker) =>
  defineWorker({ queue: 'core', checked: 'run', ...worker })

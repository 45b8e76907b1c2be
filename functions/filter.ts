import { JqError, loadJq } from 'jq-wasm'
import * as z from 'zod'
import { port, Terminal } from '../src/index.ts'
import { defineFunction } from './library.ts'

const MAX_VALUES = 10_000
const MAX_BYTES = 1_048_576

// `env` and `$ENV` must not show variables of the Worker. The filter may end with a comment, so a line break follows.
const program = (filter: string) => `def env: {}; {} as $ENV | foreach (
${filter}
) as $value ([0, 0]; [.[0] + 1, .[1] + ($value | tojson | utf8bytelength)];
  if .[0] > ${MAX_VALUES} then error("it returned more than ${MAX_VALUES} values")
  elif .[1] > ${MAX_BYTES} then error("it returned more than ${MAX_BYTES} bytes")
  else $value end)`

/** jq's numbers are doubles, so integers beyond 2^53 lose digits. */
const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (_, shown) => (typeof shown === 'bigint' ? Number(shown) : shown))

export const filter = defineFunction({
  class: 'filter',
  description: 'Applies a jq filter to each value, and writes the results.',
  isolate: true,
  in: { filter: port(z.string()), in: port() },
  out: { out: port() },
  async perform(job) {
    const jq = await loadJq()
    for await (const { filter, in: data } of job.inputs('filter', 'in'))
      try {
        for (const value of jq.json(jsonOf(data), program(filter))) job.write('out', value)
      } catch (cause) {
        const why = cause instanceof JqError ? cause.stderr : 'jq stopped, most likely because it ran out of memory'
        throw new Terminal(`the filter failed: ${why}`, { cause })
      }
  },
})

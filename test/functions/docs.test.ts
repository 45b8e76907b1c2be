// Writes the reference of the standard library from its definitions and the table, and holds the file to that.
// After a change: npx vitest run test/functions/docs.test.ts -u

import { expect, test } from 'vitest'
import { core } from '../../functions/core.ts'
import type { Worker } from '../../src/core/worker.ts'
import { type Row, type Step, table } from './table.ts'

const intro = `# The standard library

<!-- keywords: built-in functions, jq, filter, download, HTTP request, library -->

Small workers to compose. All are in queue \`core\`; the class of each is its name here.

Common rules:

- They take their input in tuples, one value of each input port, as long as every port has a value or a default and at
  least one has a value. A tuple that is not complete waits: the job is suspended.
- Input ports with defaults only are read once, and again when a default changes; the result becomes the default of the output port.
- Without input a job completes without output. null and false are ordinary values.
- A value of the wrong type fails the job without a retry. A failed run reads and writes nothing: the values are still in their ports.
- \`*\` matches ports of any name: ports that the job was created with, and ports with values. If their order matters, they are ordered by name, byte by byte (digits, capitals, _, small letters).
- They see values as JavaScript does: whole numbers beyond 2^53 lose their last digits where a function takes a value
  apart or puts it together. \`connect\` hands on the very bytes.
- A result of more than 100,000 elements fails the job.

\`\`\`ts
job.spawn('pairs', { queue: 'core', class: 'zip' }, { inputs: { in: [[[1, 2], ['a', 'b']]] } })
\`\`\`
`

const notes: Record<string, string> = {
  delay:
    'Delays are in seconds. The job is woken once for the value that is due first. Both ports by default: the value is passed on once.',
  filter: `The engine is jq 1.8 as WebAssembly. Each run has an invocation of its own, with the platform's limits of memory and CPU time (128 MB, 30 s): a larger or endless filter does not affect other runs. A filter cannot import modules. Output of \`debug\` is not kept.`,
  map: 'Made for a pair: a partner takes values from `each` and writes its results to `each`. Results are taken in the order of arrival.',
  wait_each: 'A default of `each` is not read: it would never end.',
}

const list = (names: string[]) => names.map((name) => `\`${name}\``).join(', ')

const portsOf = (ports: Worker['in'] = {}): string =>
  list(
    Object.entries(ports).map(([name, port]) =>
      'default' in port ? `${name} = ${JSON.stringify(port.default)}` : name,
    ),
  )

const lines = (sign: string, ports: Record<string, unknown[]> = {}): string[] =>
  Object.entries(ports).map(([name, values]) => `${name} ${sign} ${values.map((v) => JSON.stringify(v)).join('  ')}`)

const asPorts = (out: Step['out'] = []): Record<string, unknown[]> =>
  Array.isArray(out) ? (out.length ? { out } : {}) : out

const stepText = ({ after, give, out, outDefaults, status = 'completed' }: Step): string =>
  [
    ...(after ? [`after ${after}`] : []),
    ...lines('←', give),
    ...lines('→', asPorts(out)),
    ...Object.entries(outDefaults ?? {}).map(([name, value]) => `${name} = ${JSON.stringify(value)}`),
    status,
  ].join('\n')

const madeText = ({ in: ins = {}, out: outs = {} }: Row['with']): string[] => {
  const sides = Object.entries({ in: ins, out: outs }).filter(([, ports]) => Object.keys(ports).length > 0)
  return sides.map(([side, ports]) => `with ${side} ports ${portsOf(ports).replaceAll('`', '')}`)
}

const exampleOf = ({ with: made, steps }: Row): string =>
  ['```text', ...madeText(made), steps.map(stepText).join('\n\n'), '```'].join('\n')

const section = (worker: Worker): string => {
  const rows = table[worker.class]!
  return [
    `## ${worker.class}`,
    worker.description,
    `In ${portsOf(worker.in)} · out ${portsOf(worker.out)}`,
    exampleOf(rows[0]!),
    rows.map(({ name }) => `- ${name}`).join('\n'),
    notes[worker.class],
  ]
    .filter((part) => part !== undefined)
    .join('\n\n')
}

test('docs/functions.md matches the table', async () => {
  const text = [intro, ...core.map((worker) => `${section(worker)}\n`)].join('\n')
  await expect(text).toMatchFileSnapshot('../../docs/functions.md')
})

// Generates docs/functions.md: npx vitest run test/functions/docs.test.ts -u

import { expect, test } from 'vitest'
import * as z from 'zod'
import { core } from '../../functions/core.ts'
import { downloadArgs } from '../../functions/download/args.ts'
import type { Port, Worker } from '../../src/core/worker.ts'
import { groups, meanings, notes, outro, start } from './reference.ts'
import { type Row, type Step, table } from './table.ts'

const MAX_LINE = 120

function wrapped(text: string, indent = ''): string {
  let width = 0
  const spaced = text.match(/(?:`[^`]*`|\S)+/g)!.map((word) => {
    const fits = width + word.length < MAX_LINE
    width = fits ? width + word.length + 1 : indent.length + word.length
    return `${fits ? ' ' : `\n${indent}`}${word}`
  })
  return spaced.join('').slice(1)
}

const sentenceOf = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

const withCode = (description = ''): string => description.replace(/"(\w+)"|(\[key.*?\])/g, '`$1$2`')

const jsonTypes: Record<string, string> = { array: 'list' }

function typeOf(schema: z.ZodType | undefined): string {
  const { anyOf, type } = z.toJSONSchema(schema ?? z.unknown(), { io: 'input' }) as {
    anyOf?: { type: string }[]
    type?: string
  }
  const types = (anyOf ?? [{ type: type ?? 'any' }]).map((one) => jsonTypes[one.type] ?? one.type)
  return types.join(' or ')
}

const tableOf = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

function portsTable({ class: name, in: ins = {}, out: outs = {} }: Worker): string {
  const rowsOf = (side: 'in' | 'out', declared: Record<string, Port>) =>
    Object.entries(declared).map(([port, { schema, ...rest }]) => {
      const means = meanings[name]?.[`${side} ${port}`]
      if (!means) throw new Error(`reference.ts does not describe port "${side} ${port}" of ${name}`)
      const otherwise = 'default' in rest ? ` (default \`${JSON.stringify(rest.default)}\`)` : ''
      return [`${side === 'in' ? 'input' : 'output'} \`${port}\``, typeOf(schema), `${means}${otherwise}`]
    })
  return tableOf(['port', 'type', 'contains'], [...rowsOf('in', ins), ...rowsOf('out', outs)])
}

const lines = (sign: string, given: Record<string, unknown[]> = {}): string[] =>
  Object.entries(given).map(([name, values]) => `${name} ${sign} ${values.map((v) => JSON.stringify(v)).join('  ')}`)

const defaults = (given: Record<string, unknown> = {}): string[] =>
  Object.entries(given).map(([name, value]) => `${name} = ${JSON.stringify(value)}`)

const asPorts = (out: Step['out'] = []): Record<string, unknown[]> =>
  Array.isArray(out) ? (out.length ? { out } : {}) : out

function stepText({ after, give, out, outDefaults, status = 'completed' }: Step): string {
  const caused = [...(after ? [`after ${after}`] : []), ...lines('←', give)]
  const seen = [...lines('→', asPorts(out)), ...defaults(outDefaults), status]
  return [...(caused.length ? caused : ['run']), ...seen].join('\n')
}

const madeText = ({ in: ins = {}, out: outs = {} }: Row['with']): string[] =>
  Object.entries({ input: ins, output: outs }).flatMap(([side, made]) => {
    const names = Object.entries(made).map(([name, port]) =>
      'default' in port ? defaults({ [name]: port.default }) : name,
    )
    return names.length ? [`with ${side} port${names.length > 1 ? 's' : ''} ${names.join(', ')}`] : []
  })

const exampleOf = ({ with: made, steps }: Row): string =>
  ['```text', ...madeText(made), steps.map(stepText).join('\n\n'), '```'].join('\n')

function section(worker: Worker): string {
  const rows = table[worker.class]!
  const own = rows.filter(({ isRule }) => !isRule).map(({ name }) => wrapped(`- ${sentenceOf(name)}`, '  '))
  const description = wrapped(withCode(worker.description))
  const parts = [portsTable(worker), exampleOf(rows[0]!), own.join('\n'), notes[worker.class]]
  return [`## ${worker.class}`, description, ...parts].filter(Boolean).join('\n\n')
}

const workerOf = (name: string): Worker => core.find((worker) => worker.class === name)!

const index = Object.entries(groups).map(([group, names]) => {
  const entries = names.map((name) => {
    const [first] = withCode(workerOf(name).description).split(/(?<=\.) /)
    return wrapped(`- [\`${name}\`](#${name}): ${first}`, '  ')
  })
  return `**${group}**\n\n${entries.join('\n')}`
})

const order = Object.values(groups).flat()

test('docs/functions.md matches the table', async () => {
  const args = Object.entries(downloadArgs.shape).map(([name, schema]) => [
    `\`${name}\``,
    typeOf(schema),
    meanings.download![name]!,
  ])
  const text = [
    start.replace('INDEX', () => index.join('\n\n')),
    ...order.map((name) => `${section(workerOf(name))}\n`),
    outro.replace('ARGS', () => tableOf(['arg', 'type', 'meaning'], args)),
  ].join('\n')
  await expect(text).toMatchFileSnapshot('../../docs/functions.md')
})

test('the index of the reference has every function once', () => {
  expect(order.toSorted()).toEqual(core.map((worker) => worker.class).toSorted())
})

test('no example of the reference is 300,000 elements long', () => {
  const tooLong = core.filter((worker) => exampleOf(table[worker.class]![0]!).length > 600)
  expect(tooLong.map((worker) => worker.class)).toEqual([])
})

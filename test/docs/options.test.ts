import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type * as z from 'zod'
import { jobInput, jobPatch, worker } from '../../src/core/schemas.ts'
import { describer } from '../../src/http/openapi.ts'
import type { Schema } from '../../src/http/openapi-types.ts'
import { expectMade, table } from './made.ts'

type Shape = Schema & {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Shape[]
  items?: Shape
  properties?: Record<string, Shape>
  additionalProperties?: Shape | false
  description?: string
}

function propertiesOf(schema: z.ZodType): Record<string, Shape> {
  const named: Record<string, Schema> = {}
  const shape = describer(named)(schema) as Shape & { $ref?: string }
  const found = (shape.$ref ? named[shape.$ref.split('/').at(-1)!] : shape) as Shape
  expect(Object.keys(found.properties ?? {}).length).toBeGreaterThan(5)
  return found.properties!
}

const times = ['at', 'runAt']

const plural = (type: string): string => type.replace(/^(string|list)\b/, '$1s')

function takes(name: string, shape: Shape): string {
  const { type, anyOf, items, properties, additionalProperties } = shape
  if (anyOf) return [...new Set(anyOf.map((one) => takes(name, one)))].join(', or ')
  if (shape.enum) return shape.enum.flatMap((one) => (typeof one === 'string' ? [`\`'${one}'\``] : [])).join(', ')
  if (shape.const !== undefined) return `\`${JSON.stringify(shape.const)}\``
  if (properties) return `\`{ ${Object.keys(properties).join(', ')} }\``
  if (type === 'array') return `list of ${plural(takes(name, items!))}`
  if (type === 'object') return additionalProperties ? `map of ${plural(takes(name, additionalProperties))}` : 'object'
  if (Array.isArray(type)) return times.includes(name) ? 'time' : 'duration'
  if (type === 'null') return '`null`'
  return type ?? 'any value'
}

const has = (properties: Record<string, Shape>, name: string) => (name in properties ? 'yes' : '')

const linked = (means: string): string => means.replace(/\bdocs\/([\w-]+\.md)(#[\w-]+)?/g, '[$1]($1$2)')

test('docs/jobs.md lists every option of a job and of a class, as in the schemas', async () => {
  const [job, patch, ofClass] = [jobInput, jobPatch, worker].map(propertiesOf) as [
    Record<string, Shape>,
    Record<string, Shape>,
    Record<string, Shape>,
  ]
  const described = (properties: Record<string, Shape>) =>
    Object.entries(properties).map(([name, shape]) => ({ name, shape, means: shape.description ?? '' }))
  const options = described(job).map(({ name, shape, means }) => [
    `\`${name}\``,
    takes(name, shape),
    linked(means),
    has(ofClass, name),
    has(patch, name),
  ])
  const classes = described(ofClass)
    .filter(({ name }) => !(name in job))
    .map(({ name, shape, means }) => [`\`${name}\``, takes(name, shape), linked(means)])
  await expectMade('jobs.md', {
    options: table(['option', 'takes', 'means', 'also an option of a class', 'can be changed'], options),
    'class options': table(['option', 'takes', 'means'], classes),
  })
})

test('docs/jobs.md has every option of defineWorker', () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  const types = /type WorkerOptions = \{([\s\S]*?)\n\}\n[\s\S]*?type Worker<[^{]*\{([\s\S]*?)\n\}\n/.exec(
    read('src/core/worker.ts'),
  )!
  const options = [...`${types[1]}${types[2]}`.matchAll(/^ {2}(\w+)\??:/gm)].map(([, name]) => name!)
  expect(options).toContain('isolate')
  expect(options).toContain('perform')
  const [, part] = read('docs/jobs.md').split('takes these options for a function')
  const told = [...part!.matchAll(/^\| (`.+?`) \|/gm)].flatMap(([, cell]) => cell!.match(/\w+/g)!)
  expect(told.sort()).toEqual(options.sort())
})

import { expect, test } from 'vitest'
import type * as z from 'zod'
import { type Example, readExamples } from '../../infra/docs/openapi.ts'
import { table as client } from '../../src/client/table.generated.ts'
import { facades } from '../../src/facades/index.ts'
import { describer, openapi } from '../../src/http/openapi.ts'
import type { Schema } from '../../src/http/openapi-types.ts'
import type { Route } from '../../src/http/route.ts'
import { list, listed } from '../../src/http/routes.ts'
import { expectMade, table } from './made.ts'

type Shape = Schema & { $ref?: string; properties?: Record<string, unknown>; anyOf?: Shape[] }

function membersOf(schema: z.ZodType | undefined): string[] {
  if (!schema) return []
  const named: Record<string, Schema> = {}
  const open = (shape: Shape): string[] => {
    if (shape.$ref) return open(named[shape.$ref.split('/').at(-1)!] as Shape)
    if (shape.anyOf) return shape.anyOf.flatMap(open)
    return Object.keys(shape.properties ?? {})
  }
  return [...new Set(open(describer(named)(schema) as Shape))]
}

const words = (names: string[]) => names.map((name) => `\`${name}\``).join(' ')

const verbs = new Map(
  Object.entries(client).flatMap(([resource, all]) =>
    Object.entries(all).map(([verb, address]) => [address as string, `${resource}.${verb}`] as const),
  ),
)

const scopes: Record<string, string> = { open: 'none', any: 'any key', signed: 'QStash' }

function row({ method, path, scope, forced, summary, query, body }: Route): string[] {
  const address = `${method} ${path}`
  return [
    `\`${address}\``,
    summary,
    forced ? `${scope}; ${forced} with force` : (scopes[scope] ?? scope),
    words([...membersOf(query).map((name) => `?${name}`), ...membersOf(body)]),
    verbs.has(address) ? `\`${verbs.get(address)}\`` : '',
  ]
}

const examples = readExamples()
const { paths } = openapi([...list, ...facades.flatMap(({ name, routes }) => listed(name, routes))], '')
const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
const responses = new Map(operations.map((operation) => [operation.operationId, operation.responses]))

const WIDTH = 100

function json(value: unknown, indent = ''): string {
  const short = JSON.stringify(value)
  if (value === null || typeof value !== 'object' || indent.length + short.length <= WIDTH) return short
  const below = `${indent}  `
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const members = Array.isArray(value)
    ? value.map((one) => json(one, below))
    : Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${json(member, below)}`)
  return `${open}\n${members.map((member) => below + member).join(',\n')}\n${indent}${close}`
}

const text = (value: unknown): string[] =>
  value === undefined ? [] : [typeof value === 'string' ? value : json(value)]

function block(name: string, method: string, { path, headers = {}, request, status, response }: Example): string {
  const sent = [`${method} ${path}`, ...Object.entries(headers).map((header) => header.join(': ')), ...text(request)]
  const answered = `${status} ${responses.get(name)![status]!.description}`
  return ['```http', ...sent, '', answered, ...text(response), '```'].join('\n')
}

const wrapped = (line: string): string => line.replace(/(.{1,116})(\s+|$)/g, '$1\n').trimEnd()

type Named = Pick<Route, 'method' | 'summary' | 'description'> & { resource: string; verb: string }

const section = ({ resource, verb, method, summary, description }: Named): string =>
  `#### ${summary}\n\n${wrapped(description)}\n\n${block(`${resource}.${verb}`, method, examples[`${resource}.${verb}`]!)}`

const sections = (all: readonly Named[]): string => all.map(section).join('\n\n')

test('docs/api.md matches the table of routes', async () => {
  const own = [...Map.groupBy(list, ({ resource }) => resource)]
  expect(list.length).toBeGreaterThan(100)
  const others = facades.flatMap(({ name, routes }) =>
    Object.values(routes).map(({ method, path, summary }) => [
      `\`${method} ${path}\``,
      summary,
      `[${name}](compat/${name}.md)`,
      verbs.has(`${method} ${path}`) ? `\`${verbs.get(`${method} ${path}`)}\`` : '',
    ]),
  )
  expect(others.length).toBeGreaterThan(20)
  await expectMade('api.md', {
    routes: own
      .map(
        ([resource, all]) =>
          `### ${resource}\n\n${table(
            ['route', 'does', 'scope', 'takes', 'client'],
            all.map((route) => row(route as Route)),
          )}\n\n${sections(all)}`,
      )
      .join('\n\n'),
    facades: [
      table(['route', 'does', 'system', 'client'], others),
      ...facades.map(({ name, routes }) => `### ${name}\n\n${sections(listed(name, routes))}`),
    ].join('\n\n'),
  })
})

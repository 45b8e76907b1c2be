// The page of the API is made of the table of routes, with the method of the client for each.

import { expect, test } from 'vitest'
import type * as z from 'zod'
import { table as client } from '../../src/client/table.generated.ts'
import { facades } from '../../src/facades/index.ts'
import { describer } from '../../src/http/openapi.ts'
import type { Schema } from '../../src/http/openapi-types.ts'
import type { Route } from '../../src/http/route.ts'
import { list } from '../../src/http/routes.ts'
import { expectMade, table } from './made.ts'

type Shape = Schema & { $ref?: string; properties?: Record<string, unknown>; anyOf?: Shape[] }

/** The members of a shape; for a union, the members of all its forms. */
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

test('docs/api.md is what the table of routes says', async () => {
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
          )}`,
      )
      .join('\n\n'),
    facades: table(['route', 'does', 'system', 'client'], others),
  })
})

import { expect, test } from 'vitest'
import { facades } from '../../src/facades/index.ts'
import { written } from '../../src/http/docs.ts'
import type { OpenApi, Operation } from '../../src/http/openapi-types.ts'
import { list, listed } from '../../src/http/routes.ts'
import { publicUrl, setUp } from './kit.ts'

const all = [...list, ...facades.flatMap(({ name, routes }) => listed(name, routes))]

const read = async () => {
  const { app } = setUp({}, { clock: { advance: () => {} } })
  return (await (await app.request('/openapi.json')).json()) as OpenApi
}

const document = await read()
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

test('the operations are exactly the routes', () => {
  const ids = operations.map(({ operation }) => operation.operationId)
  expect(ids.sort()).toEqual(all.map(({ resource, verb }) => `${resource}.${verb}`).sort())
})

test('the document states its version and its address', () => {
  expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'sidejob' }, servers: [{ url: publicUrl }] })
})

test('a body is required exactly if an empty body is refused', () => {
  const needed = (isNeeded: (route: (typeof all)[number], body: Operation['requestBody']) => boolean) =>
    operations.flatMap(({ operation }) => {
      const route = all.find(({ resource, verb }) => `${resource}.${verb}` === operation.operationId)!
      return route.body && isNeeded(route, operation.requestBody) ? [operation.operationId] : []
    })
  expect(needed((_, body) => body!.required)).toEqual(needed(({ body }) => !body!.safeParse({}).success))
})

test('every name in a path is a parameter', () => {
  for (const { path, operation } of operations) {
    const inPath = operation.parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => `{${name}}`)
    expect(path.match(/\{\w+\}/g) ?? []).toEqual(inPath)
  }
})

test('every reference has its schema, and every schema is used', () => {
  const text = JSON.stringify(document)
  const named = new Set([...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map((found) => found[1]!))
  expect([...named].sort()).toEqual(Object.keys(document.components.schemas).sort())
  expect(text).not.toContain('$defs')
})

test('every operation names its scope, its answers and its errors', () => {
  for (const { operation } of operations) {
    expect(operation.security.length <= 1).toBe(true)
    expect(Object.keys(operation.responses)).toContain('default')
    const isOurs = !all.some(({ resource, verb, facade }) => facade && operation.operationId === `${resource}.${verb}`)
    const error = operation.responses.default!.content!['application/json']!.schema
    if (isOurs) expect(error).toEqual({ $ref: '#/components/schemas/Error' })
    else expect(error).toHaveProperty('properties')
  }
})

test('the document describes bodies in both formats', () => {
  const { requestBody } = document.paths['/v1/publish']!.post as Operation
  const schema = {
    type: 'object',
    properties: {
      channel: expect.objectContaining({ type: 'string' }),
      message: { description: 'any value' },
      context: { description: 'any value' },
      keep: expect.objectContaining({ anyOf: [1, 0].map((value) => expect.objectContaining({ const: value })) }),
    },
    required: ['channel', 'message'],
    additionalProperties: false,
  }
  expect(requestBody).toEqual({
    required: true,
    content: { 'application/json': { schema }, 'application/vnd.msgpack': { schema } },
  })
  expect(document.components.schemas.Job).toMatchObject({
    properties: { createdAt: { type: 'string', format: 'date-time' } },
  })
})

test('a schema is shown as a TypeScript type', () => {
  expect(written(document.components.schemas.Error!)).toBe(
    '{\n  error: {\n    code: string\n    message: string\n    path?: (string | number)[]\n    retryAfter?: number\n    schema?: {\n      class: string\n      current: string  // hash of the schema of the class\n      built: string  // hash of the schema that the caller was built against\n    }  // schema hashes that differ. Present if the code is SCHEMA_CHANGED\n    doc_url: string  // page that explains the code\n  }\n}',
  )
})

test('the docs page has no script and no external files, and a hash allows its only style', async () => {
  const { app } = setUp()
  const answer = await app.request('/docs')
  const page = await answer.text()
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(page).not.toMatch(/<script|<link|<img|src=|https?:\/\/(?!jobs\.example\.com)/)
  for (const { path, scope } of list.filter(({ only }) => !only)) {
    expect(page).toContain(path.replace(/:(\w+)/g, '{$1}'))
    expect(page).toContain(scope)
  }
  const links = [...page.matchAll(/href="#(\w+)"/g)].map(([, name]) => name!)
  expect(links).toContain('JobInput')
  for (const name of links) expect(page.split(`id="${name}"`), name).toHaveLength(2)
  const style = /<style>([\s\S]*?)<\/style>/.exec(page)![1]!
  const hash = Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(style))).toString('base64')
  expect(answer.headers.get('content-security-policy')).toContain(`default-src 'none'; style-src 'sha256-${hash}'`)
})

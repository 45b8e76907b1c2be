// After a change of an operation: npx vitest run test/docs/examples.test.ts test/docs/api.test.ts -u

import { expect, test } from 'vitest'
import type * as z from 'zod'
import { type Example, readExamples, storedAt, withExamples } from '../../infra/docs/openapi.ts'
import { parseJson } from '../../src/core/codec/json.ts'
import { closedIn } from '../../src/core/schemas.ts'
import { openapi } from '../../src/http/openapi.ts'
import { operations, perform } from './examples.ts'

function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return [...new Set(value.map((one) => JSON.stringify(shapeOf(one))))].sort()
  if (value === null || typeof value !== 'object') return value === null ? null : typeof value
  return Object.entries(value)
    .map(([name, member]) => [name, shapeOf(member)])
    .sort()
}

const isAlike = (a: Example, b: Example): boolean =>
  JSON.stringify([a.status, shapeOf(a.request), shapeOf(a.response)]) ===
  JSON.stringify([b.status, shapeOf(b.request), shapeOf(b.response)])

/** Keeps stored examples whose shape has not changed, because ids and tokens differ in each run. */
const stored = readExamples()
const examples = Object.fromEntries(
  Object.entries(await perform()).map(([name, recorded]) => {
    const before = stored[name]
    return [name, before && isAlike(before, recorded) ? before : recorded]
  }),
)

function differenceOf(schema: z.ZodType | undefined, value: unknown): string | undefined {
  if (!schema || value === undefined) return schema === value ? undefined : 'has a schema or a value, but not both'
  const { error } = schema.safeParse(parseJson(JSON.stringify(value), closedIn(schema)))
  return error && JSON.stringify(error.issues[0])
}

test('every operation has an example of a request and of a response that fit its schemas', () => {
  const faults = operations.flatMap(({ resource, verb, body, answers, media }) => {
    const name = `${resource}.${verb}`
    const example = examples[name]
    if (!example) return [`${name} has no example`]
    const { request, status, response } = example
    const found = {
      request: differenceOf(body, request),
      status: answers[status] ? undefined : `${status} is not documented`,
      response: media || status === 204 ? undefined : differenceOf(answers[status], response),
    }
    return Object.entries(found).flatMap(([part, fault]) => (fault ? [`${name}: ${part}: ${fault}`] : []))
  })
  expect(faults).toEqual([])
})

test('the published OpenAPI document has an example at each operation', () => {
  const document = withExamples(openapi(operations, 'https://jobs.example.com'), examples)
  const faults = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ operationId, parameters, requestBody, responses }) => {
      const has = (content = {}) => Object.values<object>(content).some((media) => 'example' in media)
      const { status } = examples[operationId]!
      const found = {
        request: !requestBody || has(requestBody.content),
        path: parameters.every((parameter) => parameter.in !== 'path' || parameter.example !== undefined),
        response: status === 204 || has(responses[status]!.content),
      }
      return Object.entries(found).flatMap(([part, is]) => (is ? [] : [`${operationId}: ${part}`]))
    }),
  )
  expect(faults).toEqual([])
})

test('docs/examples.json holds the recorded examples', async () => {
  await expect(`${JSON.stringify(examples, null, 2)}\n`).toMatchFileSnapshot(storedAt)
})

// Each option needs a description, because OpenAPI and the generated pages show it.

import { expect, test } from 'vitest'
import * as z from 'zod'
import { jobInput, jobPatch, worker } from '../../src/core/schemas.ts'

type Described = { description?: string; properties?: Record<string, { description?: string }> }

const silentIn = (schema: z.ZodType): string[] => {
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Described
  expect(Object.keys(properties).length).toBeGreaterThan(5)
  return Object.keys(properties).filter((name) => !properties[name]!.description)
}

const named = ['queue', 'class', 'name', 'createdBy']

test.each(Object.entries({ jobInput, jobPatch, worker }))('every option of %s is described', (_, schema) => {
  expect(silentIn(schema).filter((option) => !named.includes(option))).toEqual([])
})

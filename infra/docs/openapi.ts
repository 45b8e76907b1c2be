// Adds examples to the OpenAPI document. A Worker serves a smaller document without examples.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { OpenApi, Operation } from '../../src/http/openapi-types.ts'

export type Example = {
  path: string
  headers?: Record<string, string>
  request?: unknown
  status: number
  response?: unknown
}

export const storedAt = join(import.meta.dirname, '../../docs/examples.json')

export const readExamples = (): Record<string, Example> =>
  existsSync(storedAt) ? JSON.parse(readFileSync(storedAt, 'utf8')) : {}

function pathValues(template: string, path: string): Record<string, string> {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  const pattern = new RegExp(
    `^${template
      .replace(/[.]/g, '\\.')
      .replace(/\{channel\}/, '(.+)')
      .replace(/\{\w+\}/g, '([^/]+)')}$`,
  )
  const [, ...values] = pattern.exec(path) ?? []
  return Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(values[i]!)]))
}

function exampleOf(operation: Operation, template: string, { path, request, status, response }: Example): Operation {
  const { pathname, searchParams } = new URL(path, 'https://jobs.example.com')
  const values = { ...Object.fromEntries(searchParams), ...pathValues(template, pathname) }
  const parameters = operation.parameters.map((parameter) =>
    values[parameter.name] === undefined ? parameter : { ...parameter, example: values[parameter.name] },
  )
  const [type] = Object.keys(operation.responses[status]!.content ?? {})
  const shown = structuredClone({ ...operation, parameters })
  const body = shown.requestBody?.content['application/json']
  if (body && request !== undefined) body.example = request
  if (type && response !== undefined) shown.responses[status]!.content![type]!.example = response
  return shown
}

export function withExamples(document: OpenApi, examples: Record<string, Example>): OpenApi {
  const paths = Object.entries(document.paths).map(([template, methods]) => [
    template,
    Object.fromEntries(
      Object.entries(methods).map(([method, operation]) => {
        const example = examples[operation.operationId]
        return [method, example ? exampleOf(operation, template, example) : operation]
      }),
    ),
  ])
  return { ...document, paths: Object.fromEntries(paths) }
}

// Generates the OpenAPI 3.1 document from the table of routes.

import * as z from 'zod'
import { shortForm } from '../core/jq.ts'
import { changes, portRef, snapshot } from '../core/run.ts'
import { closed, failure, jobInput, jobView, moment, queueView, workerView } from '../core/schemas.ts'
import { mediaTypes } from './format.ts'
import type { Content, OpenApi, Operation, Schema } from './openapi-types.ts'
import { pathParams, type Route } from './route.ts'

export type Listed = Route & { resource: string; verb: string }

export const openapi = (routes: Listed[], publicUrl: string): OpenApi => {
  const schemas: Record<string, Schema> = {}
  const paths: OpenApi['paths'] = {}
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, describer(schemas)) }
  }
  describer(schemas)(failure)
  return {
    openapi: '3.1.0',
    info: { title: 'sidejob', version: '1', description: about },
    servers: [{ url: publicUrl }],
    paths,
    components: { schemas, securitySchemes },
  }
}

const about =
  'Durable jobs with ports, channels and children. Bodies are JSON or MessagePack, by Content-Type and Accept. ' +
  'Every POST may carry an Idempotency-Key: the same key and body give the first answer again, for a day; for ten minutes if the key begins with `retry:`.'

export const keyScheme = {
  type: 'http',
  scheme: 'bearer',
  description: 'An API key with the scope that the route names.',
}
const securitySchemes = {
  key: keyScheme,
  signature: { type: 'apiKey', in: 'header', name: 'Upstash-Signature', description: 'Calls from QStash only.' },
}

type Describe = (schema: z.ZodType) => Schema

const operation = (route: Listed, schemaOf: Describe): Operation => {
  const text = [route.description, route.forced && `\`force=true\` needs the scope ${route.forced}.`]
    .filter(Boolean)
    .join(' ')
  return {
    operationId: `${route.resource}.${route.verb}`,
    tags: [route.resource],
    summary: route.summary,
    ...(text && { description: text }),
    security: security(route),
    parameters: [...inPath(route, schemaOf), ...inQuery(route, schemaOf), ...inHeader(route)],
    ...(route.body && {
      requestBody: { required: !route.body.safeParse({}).success, content: data(schemaOf(route.body)) },
    }),
    responses: responses(route, schemaOf),
  }
}

const security = ({ scope }: Route): Operation['security'] => {
  if (scope === 'open') return []
  if (scope === 'any') return [{ key: [] }]
  return scope === 'signed' ? [{ signature: [] }] : [{ key: [scope] }]
}

const inPath = ({ path }: Route, schemaOf: Describe): Operation['parameters'] =>
  namesIn(path).map((name) => ({ name, in: 'path', required: true, schema: schemaOf(pathParams[name]) }))

/** The names in a path, in order. @example namesIn('/v1/jobs/:job') // ['job'] */
export const namesIn = (path: string): (keyof typeof pathParams)[] =>
  [...path.matchAll(/:(\w+)/g)].map((found) => found[1] as keyof typeof pathParams)

const inQuery = ({ query }: Route, schemaOf: Describe): Operation['parameters'] => {
  if (!query) return []
  const { properties = {}, required = [] } = schemaOf(query) as {
    properties?: Record<string, Schema>
    required?: string[]
  }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
}

const inHeader = ({ method, scope, matches }: Route): Operation['parameters'] =>
  [
    ...(method === 'POST' && scope !== 'signed' ? [{ name: 'Idempotency-Key', maxLength: 255 }] : []),
    ...(matches ? [{ name: 'If-Match', maxLength: 100 }] : []),
  ].map(({ name, maxLength }) => ({ name, in: 'header', required: false, schema: { type: 'string', maxLength } }))

const responses = ({ answers, named, media, facade }: Route, schemaOf: Describe): Operation['responses'] => {
  const answered = Object.entries(answers).map(([status, schema]) => {
    const content = media ? { [media]: { schema: schemaOf(schema) } } : data(schemaOf(schema))
    return [
      status,
      { description: named?.[Number(status)] ?? words[status] ?? 'OK', ...(status !== '204' && { content }) },
    ]
  })
  return {
    ...Object.fromEntries(answered),
    default: { description: 'Error', content: data(schemaOf(facade?.failure ?? failure)) },
  }
}

const words: Record<string, string> = {
  200: 'OK',
  201: 'Created',
  202: 'Not finished yet',
  204: 'No content',
  503: 'Not available',
}

export const data = (schema: Schema): Content =>
  Object.fromEntries(
    Object.keys(mediaTypes)
      .slice(0, 2)
      .map((type) => [type, { schema }]),
  )

// Named shapes appear once, among the components.
const names = z.registry<{ id: string }>()
names.add(jobInput, { id: 'JobInput' })
names.add(jobView, { id: 'Job' })
names.add(snapshot, { id: 'Snapshot' })
names.add(changes, { id: 'Changes' })
names.add(shortForm, { id: 'ResultMap' })
names.add(portRef, { id: 'PortRef' })
names.add(workerView, { id: 'Worker' })
names.add(queueView, { id: 'Queue' })
names.add(failure, { id: 'Error' })

/** Describes a schema. Named shapes go to `schemas` and are referenced. */
export const describer =
  (schemas: Record<string, Schema>): Describe =>
  (schema) => {
    const {
      $schema,
      $defs = {},
      ...described
    } = JSON.parse(
      JSON.stringify(z.toJSONSchema(schema, { io: 'input', metadata: names, override })).replaceAll(
        '"#/$defs/',
        '"#/components/schemas/',
      ),
    ) as Schema & { $defs?: Record<string, Schema> }
    for (const [id, { id: _, ...named }] of Object.entries($defs)) schemas[id] = named
    if (typeof described.id !== 'string') return described
    const { id, ...named } = described
    schemas[id as string] = named
    return { $ref: `#/components/schemas/${id}` }
  }

const override = ({
  zodSchema,
  jsonSchema,
}: {
  zodSchema: z.core.$ZodType
  jsonSchema: z.core.JSONSchema.BaseSchema
}) => {
  if (zodSchema === closed) {
    for (const key of Object.keys(jsonSchema)) delete jsonSchema[key]
    jsonSchema.description = 'any value'
  }
  if (zodSchema === moment) delete jsonSchema.pattern
  const description = z.globalRegistry.get(zodSchema as z.ZodType)?.description
  if (typeof description === 'string') jsonSchema.description = description
}

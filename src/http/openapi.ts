import * as z from 'zod'
import { shortForm } from '../core/jq.ts'
import { changes, portRef, snapshot } from '../core/run.ts'
import { closed, failure, jobInput, jobView, moment, queueView, workerView } from '../core/schemas.ts'
import { mediaTypes } from './format.ts'
import type { Content, OpenApi, Operation, Schema } from './openapi-types.ts'
import { isSigned, pathParams, type Route } from './route.ts'

export type Listed = Route & { resource: string; verb: string }

export const openapi = (routes: Listed[], publicUrl: string): OpenApi => {
  const schemas: Record<string, Schema> = {}
  const described = describeAll([failure, ...routes.flatMap(schemasOf)], schemas)
  const schemaOf: Describe = (schema) => described.get(schema)!
  const paths: OpenApi['paths'] = {}
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, { schemaOf, schemas }) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'sidejob', version: '1', description: about },
    servers: [{ url: publicUrl }],
    paths,
    components: { schemas, securitySchemes },
  }
}

const about =
  'Durable jobs with ports, channels and children. Bodies are JSON or MessagePack, according to Content-Type and Accept. ' +
  'Every POST accepts an Idempotency-Key: a repeated request with the same key and body returns the first response for one day, or for ten minutes if the key begins with `retry:`. If the request removes values or results, the time is one minute.'

export const keyScheme = {
  type: 'http',
  scheme: 'bearer',
  description: 'An API key that has the scope of the operation.',
}
const securitySchemes = {
  key: keyScheme,
  signature: {
    type: 'apiKey',
    in: 'header',
    name: 'Upstash-Signature',
    description: 'Signature of QStash. Only QStash calls this operation.',
  },
  version: {
    type: 'apiKey',
    in: 'header',
    name: 'Webhook-Signature',
    description: 'Signature of another version of this deployment. Only other versions call this operation.',
  },
}

type Describe = (schema: z.ZodType) => Schema
type Shape = { $ref?: string; anyOf?: Shape[]; required?: string[]; minProperties?: number; type?: string }

const schemasOf = ({ path, query, body, answers, facade }: Route): z.ZodType[] =>
  [...namesIn(path).map((name) => pathParams[name]), query, body, ...Object.values(answers), facade?.failure].filter(
    (schema) => schema !== undefined,
  )

/** Reads the JSON Schema instead of parsing an empty body, because zod would first compile each schema. */
function needsBody(
  { $ref, anyOf, required = [], minProperties = 0, type }: Shape,
  named: Record<string, Shape>,
): boolean {
  if ($ref) return needsBody(named[$ref.split('/').at(-1)!]!, named)
  if (anyOf) return anyOf.every((one) => needsBody(one, named))
  return type !== 'object' || required.length > 0 || minProperties > 0
}

type Described = { schemaOf: Describe; schemas: Record<string, Schema> }

const operation = (route: Listed, { schemaOf, schemas }: Described): Operation => {
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
      requestBody: { required: needsBody(schemaOf(route.body), schemas), content: data(schemaOf(route.body)) },
    }),
    responses: responses(route, schemaOf),
  }
}

const security = ({ scope }: Route): Operation['security'] => {
  if (scope === 'open') return []
  if (scope === 'any') return [{ key: [] }]
  if (scope === 'version') return [{ version: [] }]
  return scope === 'signed' ? [{ signature: [] }] : [{ key: [scope] }]
}

const inPath = ({ path }: Route, schemaOf: Describe): Operation['parameters'] =>
  namesIn(path).map((name) => ({ name, in: 'path', required: true, schema: schemaOf(pathParams[name]) }))

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

const inHeader = ({ method, path, scope, matches }: Route): Operation['parameters'] =>
  [
    ...(method === 'POST' && !isSigned({ scope }) ? [{ name: 'Idempotency-Key', maxLength: 255 }] : []),
    ...(method === 'POST' && path === '/v1/jobs' ? [{ name: 'traceparent', maxLength: 255 }] : []),
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
  202: 'Accepted, but not yet finished',
  204: 'No content',
  503: 'Not available',
}

export const data = (schema: Schema): Content =>
  Object.fromEntries(
    Object.keys(mediaTypes)
      .slice(0, 2)
      .map((type) => [type, { schema }]),
  )

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

/** Describes all schemas in one call of zod, so that zod reads shared parts only once. */
function describeAll(list: Iterable<z.ZodType>, schemas: Record<string, Schema>): Map<z.ZodType, Schema> {
  const all = [...new Set(list)]
  const whole = z.object(Object.fromEntries(all.entries()))
  const text = JSON.stringify(z.toJSONSchema(whole, { io: 'input', metadata: names, override }))
  const { properties, $defs = {} } = JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/')) as {
    properties: Record<string, Schema>
    $defs?: Record<string, Schema>
  }
  for (const [name, { id: _, ...named }] of Object.entries($defs)) schemas[name] = named
  return new Map(all.map((schema, n) => [schema, properties[n]!]))
}

export const describer =
  (schemas: Record<string, Schema>): Describe =>
  (schema) =>
    describeAll([schema], schemas).get(schema)!

const override = ({
  zodSchema,
  jsonSchema,
}: {
  zodSchema: z.core.$ZodType
  jsonSchema: z.core.JSONSchema.BaseSchema
}) => {
  const { def } = zodSchema as z.ZodType
  if (def === closed.def) {
    for (const key of Object.keys(jsonSchema)) delete jsonSchema[key]
    jsonSchema.description = 'any value'
  }
  if (def === moment.def) delete jsonSchema.pattern
  const { description, minProperties } = z.globalRegistry.get(zodSchema as z.ZodType) ?? {}
  if (typeof description === 'string') jsonSchema.description = description
  if (typeof minProperties === 'number') jsonSchema.minProperties = minProperties
}

import { expect, test } from 'vitest'
import * as z from 'zod'
import type { Snapshot } from '../../src/core/run.ts'
import { push } from '../../src/engine/remote/push.ts'
import { createSigner } from '../../src/engine/remote/sign.ts'
import { setUp } from './kit.ts'
import { answered, document, post, sent } from './worker-document.ts'

const text = z.string().min(1)
const schema = z.record(z.string(), z.unknown())
const content = z.record(z.string().regex(/^\w+\/[\w.+-]+$/), z.strictObject({ schema }))
const answer = z.strictObject({
  description: text,
  headers: z.record(z.string(), z.strictObject({ description: text.optional(), schema })).optional(),
  content: content.optional(),
})
const operation = z.strictObject({
  operationId: text.optional(),
  summary: text.optional(),
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  parameters: z
    .array(
      z.strictObject({
        name: text,
        in: z.enum(['query', 'header', 'path', 'cookie']),
        required: z.boolean().optional(),
        description: text.optional(),
        schema,
      }),
    )
    .optional(),
  requestBody: z.strictObject({ required: z.boolean().optional(), content }).optional(),
  responses: z.record(z.string().regex(/^([1-5](\d\d|XX)|default)$/), answer),
  get callbacks() {
    return z.record(z.string(), z.record(z.string(), pathItem)).optional()
  },
})
const pathItem: z.ZodType = z.strictObject({ post: operation })
const openapi = z.strictObject({
  openapi: z.string().regex(/^3\.1\.\d+$/),
  info: z.strictObject({ title: text, version: text, description: text }),
  paths: z.record(z.string().startsWith('/'), pathItem),
  components: z.strictObject({
    schemas: z.record(z.string().regex(/^[\w.-]+$/), schema),
    securitySchemes: z.record(
      z.string(),
      z.strictObject({ type: z.literal('http'), scheme: text, description: text.optional() }),
    ),
  }),
})

const snapshot = (): Snapshot => ({
  run: { token: '7.1.x', attempt: 1, lost: 0, reason: 'run', timeout: 1_000, startedAt: 1, leaseUntil: 2 },
  job: {
    id: 7,
    queue: 'default',
    class: 'zip',
    args: null,
    name: null,
    createdAt: 1,
    createdBy: '',
    ranAt: null,
    parent: null,
    aliases: [],
  },
  state: {},
  in: { left: { cursor: 0, values: [], more: 0 } },
  out: {},
  children: {},
})

async function call(status: number, body: string | null = null) {
  let request: Request | undefined
  const { changes } = await push({ url: 'https://w.example.com/zip' }, snapshot(), {
    fetch: async (url, init) => {
      request = new Request(url, init)
      return new Response(body, { status, headers: { 'content-type': 'application/json' } })
    },
    signer: createSigner({ roots: ['whsec_c2VjcmV0'] }),
    allowHosts: [],
    now: () => 1_000,
  })
  return { request: request!, changes }
}

test('the document is public, and linked from the docs', async () => {
  const { app } = setUp()
  const published = await app.request('/worker.openapi.json')
  const paths = ((await published.json()) as typeof document).paths
  expect(Object.keys(paths['/'].post.callbacks.commit)).toEqual([
    'https://jobs.example.com/v1/runs/{$request.header.webhook-id}/commit',
  ])
  expect(await (await app.request('/docs')).text()).toContain('href="worker.openapi.json"')
})

test('the document is valid OpenAPI 3.1, and every reference has its schema', () => {
  expect(openapi.safeParse(document).error?.issues).toBeUndefined()
  const named = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(
    ([, name]) => name,
  )
  expect([...new Set(named)].sort()).toEqual(Object.keys(document.components.schemas).sort())
})

test('a call has the headers and the body that the document names', async () => {
  const { request } = await call(200)
  for (const { name, schema } of post.parameters)
    expect(request.headers.get(name)).toMatch(new RegExp((schema as { pattern?: string }).pattern ?? '.'))
  expect(sent.safeParse(await request.json()).error?.issues).toBeUndefined()
  expect(sent.safeParse({ run: {} }).success).toBe(false)
})

test('a refusal is retried only for the documented statuses', async () => {
  const responses = post.responses as Record<string, { description: string }>
  for (const status of [301, 307, 400, 401, 404, 408, 410, 422, 425, 429, 500, 502, 503, 504]) {
    const { description } = responses[status] ?? responses[`${Math.floor(status / 100)}XX`]!
    const { changes } = await call(status)
    const isRetried = changes !== 'later' && changes.end === 'failed' && changes.error?.retry !== false
    expect({ status, isRetried }).toEqual({
      status,
      isRetried: description.startsWith('The run failed and is retried'),
    })
  }
  expect((await call(202)).changes).toBe('later')
})

test('valid answers are accepted, and invalid answers are refused', async () => {
  const isTaken = async (body: unknown) => {
    const { changes } = await call(200, JSON.stringify(body))
    return changes !== 'later' && !changes.error?.message.startsWith('the worker’s answer'.replace('’', "'"))
  }
  const write = { op: 'write', to: { out: 'pair' }, values: [[1, 'x']] }
  const fitting = [
    { end: 'completed', result: { n: 1 } },
    { end: 'suspended', waitFor: 'children', ops: [write], reads: { left: { cursor: 0, count: 0 } } },
    { end: 'failed', error: { message: 'no', retry: false } },
    { type: 'success', finished_at: '2026-01-01T00:00:00Z', result: [1] },
    { type: 'success' },
    { type: 'failure', should_retry: false, message: 'no' },
  ]
  const unfit = [{}, { end: 'done' }, { end: 'checkpoint' }, { end: 'completed', ops: [{ op: 'sing' }] }, [], 'ok', 7]
  for (const body of fitting)
    expect([body, answered.safeParse(body).success, await isTaken(body)]).toEqual([body, true, true])
  for (const body of unfit)
    expect([body, answered.safeParse(body).success, await isTaken(body)]).toEqual([body, false, false])
})

// With a link, a person without a key can send one value to a port.

import * as z from 'zod'
import { hashOf, hashOfBytes } from '../core/crypto.ts'
import { SidejobError } from '../core/errors.ts'
import { closed, duration, moment, within } from '../core/schemas.ts'
import { DAY } from '../core/units.ts'
import type { Call } from '../engine/engine.ts'
import { keyOf } from './places.ts'
import { Reply, route } from './route.ts'

const MOST = 30 * DAY
const TENANT = /\/t\/[a-z0-9-]+$/

const life = duration
  .refine(...within(1_000, MOST, '1 second to 30 days'))
  .describe('lifetime of the link; 3 days by default')

/** All uses of a link share an idempotency key, which is kept for longer than any link lives. */
async function once(token: string, body: Uint8Array): Promise<Call> {
  const used = await hashOf(token)
  return { key: `link:${used}`, fingerprint: await hashOfBytes(body), by: 'link', keep: MOST }
}

/** Any web page can make a browser send a body without a Content-Type, so the header is required. */
function expectPage({ headers }: Request, origins: readonly string[] = []): void {
  if (headers.get('content-type') === null)
    throw new SidejobError('UNSUPPORTED', 'expected the header "Content-Type: application/json", got none')
  const origin = headers.get('origin') ?? ''
  if (headers.get('sec-fetch-site') !== 'cross-site' || origins.includes(origin) || origins.includes('*')) return
  throw new SidejobError(
    'FORBIDDEN',
    `expected a request from this deployment or an origin in SIDEJOB_ORIGINS, got one from ${origin.slice(0, 100) || 'another site'}`,
  )
}

export const links = {
  make: route('POST /v1/jobs/:job/links/:port', {
    scope: 'write',
    summary: 'Create a one-time link to an input port',
    description: 'Anyone with the link can write one value to this port, without an API key.',
    body: z.strictObject({ for: life.optional() }),
    answers: { 201: z.object({ url: z.string(), expiresAt: moment }) },
    handle: async ({ engine, deps, params, body, caller }) => {
      const { id } = await engine.jobs.get(params.job)
      // A missing port must be an error for the creator of the link, not for the person who answers.
      await engine.ports.get(String(id), 'in', params.port, 0)
      const path = `/v1/answers/${id}/${params.port}`
      const [tenant = ''] = TENANT.exec(deps.publicUrl) ?? []
      const { token, expiresAt } = await caller!.home.streamTokens.create(
        keyOf(caller!),
        `${tenant}${path}`,
        body.for ?? 3 * DAY,
      )
      const url = `${deps.publicUrl}${path}?token=${token}`
      return new Reply(201, { url, expiresAt })
    },
  }),

  answer: route('POST /v1/answers/:job/:port', {
    scope: 'write',
    summary: 'Write the value of a one-time link',
    description: 'The link accepts one value. Sending the same value again returns the same response.',
    query: z.strictObject({
      token: z.string().max(255).optional().describe('token of the link, instead of an API key'),
    }),
    body: z.strictObject({ value: closed }),
    byToken: true,
    answers: { 200: z.object({ size: z.int() }) },
    handle: async ({ engine, deps, params, query, body, bytes, call, c }) => {
      if (query.token) expectPage(c.req.raw, deps.origins)
      const used = query.token ? await once(query.token, bytes) : call
      return engine.ports.write(params.job, 'in', params.port, [body.value], {}, used)
    },
  }),
}

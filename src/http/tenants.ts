import * as z from 'zod'
import { SidejobError } from '../core/errors.ts'
import { done, flag, tenantInput, tenantList } from '../core/schemas.ts'
import { route } from './route.ts'

const tenantErased = z.object({
  keys: z.int().describe('number of erased Redis keys; with preview, the number that would be erased'),
  files: z.int().describe('number of erased files; with preview, the number that would be erased'),
  cursor: z.string().nullable().describe('cursor for the next call; null after the last call'),
})

/** An erasure deletes data from Redis first, then from the history, and then files. */
const erasureCursor = z
  .string()
  .max(2_000)
  .regex(/^(\d{1,20}|files:.*|history:)$/, 'expected the cursor of the previous call')
  .describe('cursor from the previous call')

export const tenants = {
  list: route('GET /v1/tenants', {
    scope: 'admin',
    summary: 'List tenants',
    description: 'Returns the name, age and limits of each tenant that is not suspended.',
    answers: { 200: tenantList },
    only: 'tenants',
    handle: ({ engine }) => engine.tenants.list(),
  }),

  add: route('PUT /v1/tenants/:tenant', {
    scope: 'admin',
    summary: 'Create a tenant, or change its limits',
    description:
      'Create the first key of the tenant with `POST /t/<tenant>/v1/keys`. The limits apply to all keys of the tenant together, in addition to the limits of each key, but not to the key of the deployment. Changes apply everywhere within ten seconds.',
    body: tenantInput,
    only: 'tenants',
    handle: ({ engine, params, body }) => engine.tenants.set(params.tenant, body),
  }),

  remove: route('DELETE /v1/tenants/:tenant', {
    scope: 'admin',
    summary: 'Suspend a tenant, or erase its data',
    description:
      'Suspends the tenant: its keys and wake-ups are refused. `erase=true` also deletes its jobs, keys, logs and files in ' +
      'slices. Repeat the call with the returned `cursor` until `cursor` is null. `preview=true` only counts.',
    query: z.strictObject({
      erase: flag.optional().describe('true to delete the data of the tenant, which cannot be undone'),
      preview: flag.optional().describe('true for a dry run, which only counts the data; requires erase=true'),
      cursor: erasureCursor.optional(),
    }),
    answers: { 200: z.union([tenantErased, done]) },
    only: 'tenants',
    handle: ({ engine, deps, params, query: { erase, ...slice } }) => {
      if (erase) return deps.tenants!.erase(params.tenant, slice)
      if (slice.preview || slice.cursor !== undefined)
        throw new SidejobError('BAD_REQUEST', 'preview and cursor are allowed only with erase=true')
      return engine.tenants.remove(params.tenant)
    },
  }),
}

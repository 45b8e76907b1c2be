import * as z from 'zod'
import { flag, storedWorker, worker, workerList, workerPatch } from '../core/schemas.ts'
import { shownUrl } from '../core/url.ts'
import type { WorkerDefinition } from '../engine/engine.ts'
import { route } from './route.ts'

const preview = z.strictObject({
  preview: flag.optional().describe('dry run: returns the waiting jobs that would violate the new definition'),
})

export const workers = {
  list: route('GET /v1/workers', {
    scope: 'read',
    summary: 'List worker classes',
    description: 'Returns the definition of each class and the deployments that serve it.',
    answers: { 200: workerList },
    handle: async ({ engine }) => ({ workers: (await engine.workers.list()).workers.map(withoutSecret) }),
  }),

  register: route('PUT /v1/workers/:queue/:class', {
    scope: 'admin',
    summary: 'Register or replace a worker class',
    description: '`preview=true` is a dry run: it returns the waiting jobs that would violate the new definition.',
    query: preview,
    body: worker,
    answers: { 200: storedWorker },
    handle: async ({ engine, params, query, body }) =>
      withoutSecret(await engine.workers.register(params.queue, params.class, body, query)),
  }),

  patch: route('PATCH /v1/workers/:queue/:class', {
    scope: 'admin',
    summary: 'Update a worker class',
    description:
      'Merges the given members into the definition. `null` restores a default. `preview=true` is a dry run.',
    query: preview,
    body: workerPatch,
    answers: { 200: storedWorker },
    handle: async ({ engine, params, query, body }) =>
      withoutSecret(await engine.workers.update(params.queue, params.class, body, query)),
  }),

  unregister: route('DELETE /v1/workers/:queue/:class', {
    scope: 'admin',
    summary: 'Remove a worker class',
    description: 'Waiting jobs of the class stay, and run when the class is registered again.',
    handle: ({ engine, params }) => engine.workers.unregister(params.queue, params.class),
  }),
}

// A reader of workers must not be able to sign calls.
const withoutSecret = <W extends WorkerDefinition>({ push, ...worker }: W) => ({
  ...worker,
  ...(push && { push: { url: shownUrl(push.url), ...(push.format && { format: push.format }) } }),
})

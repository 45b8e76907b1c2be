// One act on all jobs that fit a filter.

import { bulkInput, enqueued } from '../core/schemas.ts'
import { reply, route } from './route.ts'

export const bulk = {
  start: route(
    {
      method: 'POST',
      path: '/v1/bulk',
      scope: 'admin',
      summary: 'Makes a job that retries, requeues, terminates or deletes all older jobs that fit a filter',
      body: bulkInput,
      answers: { 201: enqueued },
    },
    async ({ engine, body, call }) => reply(201, await engine.bulk(body, call)),
  ),
}

import * as z from 'zod'
import { lockInput, lockToken } from '../core/schemas.ts'
import { route } from './route.ts'

export const locks = {
  lock: route('POST /v1/jobs/:job/lock', {
    scope: 'write',
    summary: 'Lock a job',
    description: 'A locked job does not run until it is unlocked or the lock expires.',
    body: lockInput,
    answers: { 200: z.object({ token: z.string() }) },
    handle: ({ engine, params, body, call }) => engine.jobs.lock(params.job, body, call),
  }),

  refresh: route('POST /v1/jobs/:job/lock/refresh', {
    scope: 'write',
    summary: 'Extend a lock',
    description: 'The lock then lasts for `ttl` from now. Requires the token of the lock.',
    body: lockInput.extend({ token: lockToken }),
    handle: ({ engine, params, body, call }) => engine.jobs.refreshLock(params.job, body, call),
  }),

  unlock: route('POST /v1/jobs/:job/unlock', {
    scope: 'write',
    summary: 'Unlock a job',
    description: 'Requires the token of the lock. The job can run again.',
    body: z.strictObject({ token: lockToken }),
    handle: ({ engine, params, body, call }) => engine.jobs.unlock(params.job, body, call),
  }),
}

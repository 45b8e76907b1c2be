import * as z from 'zod'
import { breakerList, breakerOf } from '../core/schemas.ts'
import { route } from './route.ts'

export const breakers = {
  list: route('GET /v1/breakers', {
    scope: 'read',
    summary: 'List open circuit breakers',
    description: 'Returns the hosts that are not called because they keep failing.',
    answers: { 200: breakerList },
    handle: ({ engine }) => engine.breakers.list(),
  }),

  reset: route('DELETE /v1/breakers/:key', {
    scope: 'admin',
    summary: 'Close a circuit breaker',
    description: 'Calls to the host resume immediately.',
    query: z.strictObject({ of: breakerOf.default('callbacks') }),
    handle: ({ engine, params, query }) => engine.breakers.reset(params.key, query.of),
  }),
}

// Numbers about the whole.

import * as z from 'zod'
import { route } from './route.ts'

export const stats = {
  show: route(
    {
      method: 'GET',
      path: '/v1/stats',
      scope: 'read',
      summary: 'Shows numbers about the whole',
      answers: { 200: z.record(z.string(), z.unknown()) },
    },
    ({ engine }) => engine.stats(),
  ),
}

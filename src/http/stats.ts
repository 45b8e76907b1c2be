// Numbers about the whole.

import * as z from 'zod'
import { type Measured, metrics } from './metrics.ts'
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

  metrics: route(
    {
      method: 'GET',
      path: '/metrics',
      scope: 'read',
      summary: 'Shows numbers for Prometheus',
      answers: { 200: z.string() },
      media: 'text/plain',
    },
    async ({ engine }) => {
      const [stats, bounds] = await Promise.all([engine.stats(), engine.bounds()])
      const text = metrics({ ...(stats as Pick<Measured, 'queues' | 'today'>), ...bounds })
      return new Response(text, {
        headers: { 'content-type': 'text/plain; version=0.0.4', 'cache-control': 'no-store' },
      })
    },
  ),
}

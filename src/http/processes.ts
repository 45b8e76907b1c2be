// Processes and their signals.

import { processList, processSignal } from '../core/process.ts'
import { done } from '../core/schemas.ts'
import { route } from './route.ts'

export const processes = {
  list: route(
    {
      method: 'GET',
      path: '/v1/processes',
      scope: 'read',
      summary: 'List lanes and pull workers',
      description: 'Each with the jobs that it runs.',
      answers: { 200: processList },
    },
    ({ engine }) => engine.processes.list(),
  ),

  signal: route(
    {
      method: 'POST',
      path: '/v1/processes/:process/signal',
      scope: 'admin',
      summary: 'Send a signal to a pull worker',
      description: '`quiet` stops new claims, `stop` ends the worker, `resume` lets it claim again.',
      body: processSignal,
      answers: { 200: done },
    },
    ({ engine, params, body }) => engine.processes.signal(params.process, body.signal),
  ),
}

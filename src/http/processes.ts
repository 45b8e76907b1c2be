import { processList, processSignal } from '../core/process.ts'
import { route } from './route.ts'

export const processes = {
  list: route('GET /v1/processes', {
    scope: 'read',
    summary: 'List lanes and pull workers',
    description:
      'Returns each lane and pull worker with its current runs. A pull worker disappears ten minutes after its last request.',
    answers: { 200: processList },
    handle: ({ engine }) => engine.processes.list(),
  }),

  signal: route('POST /v1/processes/:process/signal', {
    scope: 'admin',
    summary: 'Send a signal to a pull worker',
    description:
      '`quiet` makes the worker claim no new jobs, `stop` also makes it exit after its current runs, and null lets it claim again.',
    body: processSignal,
    handle: ({ engine, params, body }) => engine.processes.signal(params.process, body.signal),
  }),
}

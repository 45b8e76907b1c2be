// Processes: who is at work, and what programs that ask for work are told.

import { processList, processSignal } from '../core/process.ts'
import { done } from '../core/schemas.ts'
import { route } from './route.ts'

export const processes = {
  list: route(
    {
      method: 'GET',
      path: '/v1/processes',
      scope: 'read',
      summary: 'Shows who is at work, lanes and programs that ask for work under a name, and which jobs each has',
      answers: { 200: processList },
    },
    ({ engine }) => engine.processes(),
  ),

  signal: route(
    {
      method: 'POST',
      path: '/v1/processes/:process/signal',
      scope: 'admin',
      summary: 'Tells a program to take no new jobs, to stop, or to go on',
      body: processSignal,
      answers: { 200: done },
    },
    ({ engine, params, body }) => engine.signal(params.process, body.signal),
  ),
}

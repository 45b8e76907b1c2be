import * as z from 'zod'
import { snapshot } from '../core/run.ts'
import { closed, scanCursor } from '../core/schemas.ts'
import { waitingPage, waitingQuery } from '../core/waiting.ts'
import { route } from './route.ts'

const query = z.strictObject({ cursor: scanCursor.optional() })

export const moreSteps = {
  description: 'Needed for jobs with more steps than fit into the snapshot.',
  query,
  answers: { 200: z.object({ steps: z.record(z.string(), closed), cursor: z.string().nullable() }) },
}

export const moreChildren = {
  description: 'Needed for jobs with more children than fit into the snapshot.',
  query,
  answers: { 200: z.object({ children: snapshot.shape.children, cursor: z.string().nullable() }) },
}

export const waiting = {
  list: route('GET /v1/waiting', {
    scope: 'admin',
    summary: 'List jobs that wait inside their function',
    description:
      'Returns jobs, newest first, each with everything that its next run would read, including stored steps and waits. `sidejob rehearse` runs new code with these jobs.',
    query: waitingQuery,
    answers: { 200: waitingPage },
    handle: ({ engine, query }) => engine.waiting.list(query),
  }),

  steps: route('GET /v1/waiting/:job/steps', {
    scope: 'admin',
    summary: 'List more stored steps of a waiting job',
    ...moreSteps,
    handle: ({ engine, params, query }) => engine.waiting.steps(params.job, query.cursor),
  }),

  children: route('GET /v1/waiting/:job/children', {
    scope: 'admin',
    summary: 'List more children of a waiting job',
    ...moreChildren,
    handle: ({ engine, params, query }) => engine.waiting.children(params.job, query.cursor),
  }),
}

import { recordedJob, recordedPage, recordedQuery } from '../core/recorded.ts'
import { route } from './route.ts'

export const recorded = {
  list: route('GET /v1/recorded', {
    scope: 'admin',
    summary: 'List ended jobs with a recorded run',
    description:
      'Returns jobs, newest first, each with everything that its last run read and changed. The class of these jobs must have `history: { values: true }`. `sidejob rehearse --recorded` replays these runs with new code.',
    query: recordedQuery,
    answers: { 200: recordedPage },
    handle: ({ engine, query }) => engine.recorded.list(query),
  }),

  get: route('GET /v1/recorded/:job', {
    scope: 'admin',
    summary: 'Get the recorded run of a job',
    description:
      'Returns everything that the last run read and changed. If there is no record, `fault` states the reason.',
    answers: { 200: recordedJob },
    handle: ({ engine, params }) => engine.recorded.get(params.job),
  }),
}

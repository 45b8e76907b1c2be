import { historyDetail, historyPage, historyQuery, historyRows, historySql, historyStatus } from '../core/schemas.ts'
import { route } from './route.ts'

export const history = {
  list: route('GET /v1/history', {
    scope: 'read',
    summary: 'Search ended jobs',
    description:
      'Returns the most recently ended job first. Each call searches at most 10,000 index entries and returns a cursor to continue; `searchedTo` is the end time of the last job searched.',
    query: historyQuery,
    mapped: ['args', 'labels'],
    answers: { 200: historyPage },
    handle: ({ engine, query }) => engine.history.list(query),
  }),

  status: route('GET /v1/history/status', {
    scope: 'read',
    summary: 'Get the state of the history',
    description: 'Shows whether ended jobs are waiting to be stored, and the last error of the database.',
    answers: { 200: historyStatus },
    handle: ({ engine }) => engine.history.status(),
  }),

  sql: route('POST /v1/history/sql', {
    scope: 'admin',
    only: 'tenants',
    summary: 'Run a read-only SQL query on the history',
    description: 'The tables are `ends`, `labels` and `runs`. The query sees all tenants, and cannot write.',
    body: historySql,
    answers: { 200: historyRows },
    handle: ({ engine, body }) => engine.history.sql(body),
  }),

  get: route('GET /v1/history/jobs/:job', {
    scope: 'read',
    summary: 'Get an ended job from the history',
    description: 'Also finds jobs that Redis no longer has.',
    answers: { 200: historyDetail },
    handle: ({ engine, params }) => engine.history.get(params.job),
  }),
}

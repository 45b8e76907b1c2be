import { viewInput, viewList } from '../core/schemas.ts'
import { route } from './route.ts'

export const views = {
  list: route('GET /v1/views', {
    scope: 'read',
    summary: 'List shared views',
    description: 'Returns the name, query and author of each view of the job list.',
    answers: { 200: viewList },
    handle: ({ engine }) => engine.views.list(),
  }),

  set: route('PUT /v1/views/:name', {
    scope: 'admin',
    summary: 'Create or replace a shared view',
    description: 'Stores the query string of the job list for everyone who uses the dashboard.',
    body: viewInput,
    handle: ({ engine, params, body, caller }) =>
      engine.views.set(params.name, { query: body.query, by: caller!.name }),
  }),

  remove: route('DELETE /v1/views/:name', {
    scope: 'admin',
    summary: 'Delete a shared view',
    description: 'Removes the view for everyone who uses the dashboard.',
    handle: ({ engine, params }) => engine.views.remove(params.name),
  }),
}

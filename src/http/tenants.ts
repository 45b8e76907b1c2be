// Tenants: each is a namespace of its own, entered with a key of its own or below /t/<tenant>/ by an admin.

import { done, tenantList } from '../core/schemas.ts'
import { route } from './route.ts'

export const tenants = {
  list: route(
    {
      method: 'GET',
      path: '/v1/tenants',
      scope: 'admin',
      summary: 'List tenants',
      answers: { 200: tenantList },
      only: 'tenants',
    },
    ({ engine }) => engine.tenants.list(),
  ),

  add: route(
    {
      method: 'PUT',
      path: '/v1/tenants/:tenant',
      scope: 'admin',
      summary: 'Create a tenant',
      description: 'Create its first key with `POST /t/<tenant>/v1/keys`.',
      answers: { 200: done },
      only: 'tenants',
    },
    ({ engine, params }) => engine.tenants.add(params.tenant),
  ),

  remove: route(
    {
      method: 'DELETE',
      path: '/v1/tenants/:tenant',
      scope: 'admin',
      summary: 'Suspend a tenant',
      description: 'Its keys and wake-ups are refused. Its data stays.',
      answers: { 200: done },
      only: 'tenants',
    },
    ({ engine, params }) => engine.tenants.remove(params.tenant),
  ),
}

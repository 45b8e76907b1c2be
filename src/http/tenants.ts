// Tenants: each is a namespace of its own, entered with a key of its own or below /t/<tenant>/ by an admin.

import { done, tenantList } from '../core/schemas.ts'
import { route } from './route.ts'

export const tenants = {
  list: route(
    {
      method: 'GET',
      path: '/v1/tenants',
      scope: 'admin',
      summary: 'Lists the tenants',
      answers: { 200: tenantList },
      only: 'tenants',
    },
    ({ engine }) => engine.tenants(),
  ),

  add: route(
    {
      method: 'PUT',
      path: '/v1/tenants/:tenant',
      scope: 'admin',
      summary: 'Makes a tenant; its first key comes from POST /t/<tenant>/v1/keys',
      answers: { 200: done },
      only: 'tenants',
    },
    ({ engine, params }) => engine.addTenant(params.tenant),
  ),

  remove: route(
    {
      method: 'DELETE',
      path: '/v1/tenants/:tenant',
      scope: 'admin',
      summary: 'Shuts a tenant out: its keys and bells are refused, what it has stays until it is let in again',
      answers: { 200: done },
      only: 'tenants',
    },
    ({ engine, params }) => engine.removeTenant(params.tenant),
  ),
}

import { keyInput, keyList, keyMade, keyRotation, me as meView, moment } from '../core/schemas.ts'
import { reply, route } from './route.ts'

export const me = {
  show: route('GET /v1/me', {
    scope: 'any',
    summary: 'Get the current API key',
    description: 'Returns the name, scopes and tenant of the key.',
    answers: { 200: meView },
    handle: async ({ caller }) => {
      const { id, name, scopes, tenant = null } = caller!
      return { id, name, scopes: [...scopes], tenant }
    },
  }),
}

export const keys = {
  list: route('GET /v1/keys', {
    scope: 'read',
    summary: 'List API keys',
    description: 'Returns the names, scopes, expiry and last use of the keys, never the keys themselves.',
    answers: { 200: keyList },
    handle: ({ engine }) => engine.keys.list(),
  }),

  add: route('POST /v1/keys', {
    scope: 'admin',
    summary: 'Create an API key',
    description: 'The key is shown only in this response.',
    body: keyInput,
    answers: { 201: keyMade },
    handle: async ({ engine, body, call }) => reply(201, await engine.keys.add(body, call)),
  }),

  rotate: route('POST /v1/keys/:key/rotate', {
    scope: 'admin',
    summary: 'Rotate an API key',
    description: 'Creates a replacement. The old key works for another day by default.',
    body: keyRotation,
    answers: { 201: keyMade.extend({ until: moment }) },
    handle: async ({ engine, params, body, call }) => reply(201, await engine.keys.rotate(params.key, body, call)),
  }),

  remove: route('DELETE /v1/keys/:key', {
    scope: 'admin',
    summary: 'Revoke an API key',
    description: 'The key is refused everywhere within ten seconds.',
    handle: ({ engine, params }) => engine.keys.remove(params.key),
  }),
}

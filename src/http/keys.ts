// API keys: who may come in, and for what.

import { done, keyInput, keyList, keyMade, keyRotation, me as meView, moment } from '../core/schemas.ts'
import { reply, route } from './route.ts'

export const me = {
  show: route(
    {
      method: 'GET',
      path: '/v1/me',
      scope: 'any',
      summary: 'Shows whose key this is: its name, its scopes, and the tenant that it asks in',
      answers: { 200: meView },
    },
    async ({ caller }) => {
      const { id, name, scopes, tenant = null } = caller!
      return { id, name, scopes: [...scopes], tenant }
    },
  ),
}

export const keys = {
  list: route(
    {
      method: 'GET',
      path: '/v1/keys',
      scope: 'read',
      summary: 'Shows the API keys: names, scopes, ends, and when each was last used',
      answers: { 200: keyList },
    },
    ({ engine }) => engine.keys(),
  ),

  add: route(
    {
      method: 'POST',
      path: '/v1/keys',
      scope: 'admin',
      summary: 'Makes an API key, which is shown this once',
      body: keyInput,
      answers: { 201: keyMade },
    },
    async ({ engine, body, call }) => reply(201, await engine.addKey(body, call)),
  ),

  rotate: route(
    {
      method: 'POST',
      path: '/v1/keys/:key/rotate',
      scope: 'admin',
      summary: 'Makes a key in the place of another, which goes on for a while (a day)',
      body: keyRotation,
      answers: { 201: keyMade.extend({ until: moment }) },
    },
    async ({ engine, params, body, call }) => reply(201, await engine.rotateKey(params.key, body, call)),
  ),

  remove: route(
    {
      method: 'DELETE',
      path: '/v1/keys/:key',
      scope: 'admin',
      summary: 'Makes an API key worthless',
      answers: { 200: done },
    },
    ({ engine, params }) => engine.removeKey(params.key),
  ),
}

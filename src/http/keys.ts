// API keys: who may come in, and for what.

import * as z from 'zod'
import { done, keyInput, keyList } from '../core/schemas.ts'
import { reply, route } from './route.ts'

export const keys = {
  list: route(
    {
      method: 'GET',
      path: '/v1/keys',
      scope: 'read',
      summary: 'Shows the API keys, by name and scope',
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
      answers: { 201: z.object({ id: z.string(), key: z.string() }) },
    },
    async ({ engine, body, call }) => reply(201, await engine.addKey(body, call)),
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

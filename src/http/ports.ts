// Ports: looking, writing, taking; their defaults, channels and connections.

import * as z from 'zod'
import { channelNames, closed, count, done, items, portLook, portRead, portWrite, target } from '../core/schemas.ts'
import { route } from './route.ts'

export const ports = {
  look: route(
    {
      method: 'GET',
      path: '/v1/jobs/:job/:dir/:port',
      scope: 'read',
      summary: 'Looks at a port without taking anything',
      query: z.strictObject({ limit: count(0, 1_000).optional() }),
      answers: { 200: portLook },
    },
    ({ engine, params, query }) => engine.look(params.job, params.dir, params.port, query.limit),
  ),

  write: route(
    {
      method: 'POST',
      path: '/v1/jobs/:job/:dir/:port',
      scope: 'write',
      summary: 'Writes values: an input wakes the job, an output wakes the parent and publishes',
      body: portWrite,
      answers: { 200: z.object({ size: z.int() }) },
    },
    ({ engine, params, body: { values, value, ...options }, call }) =>
      engine.write(params.job, params.dir, params.port, values ?? [value!], options, call),
  ),

  read: route(
    {
      method: 'POST',
      path: '/v1/jobs/:job/:dir/:port/read',
      scope: 'write',
      summary: 'Takes values from a port; its default when nothing waits',
      body: portRead,
      answers: { 200: z.object({ values: items }) },
    },
    ({ engine, params, body, call }) => engine.take(params.job, params.dir, params.port, body, call),
  ),

  setDefault: route(
    {
      method: 'PUT',
      path: '/v1/jobs/:job/:dir/:port/default',
      scope: 'write',
      summary: 'Sets what a read gives when nothing waits',
      body: z.strictObject({ value: closed }),
      answers: { 200: done },
    },
    ({ engine, params, body, call }) => engine.setDefault(params.job, params.dir, params.port, body.value, call),
  ),

  clearDefault: route(
    {
      method: 'DELETE',
      path: '/v1/jobs/:job/:dir/:port/default',
      scope: 'write',
      summary: 'Takes the default from a port',
      answers: { 200: done },
    },
    ({ engine, params, call }) => engine.setDefault(params.job, params.dir, params.port, undefined, call),
  ),

  setChannels: route(
    {
      method: 'PUT',
      path: '/v1/jobs/:job/:dir/:port/channels',
      scope: 'write',
      summary: 'Sets the channels that an input listens to, or an output publishes on',
      body: z.strictObject({ channels: channelNames }),
      answers: { 200: done },
    },
    ({ engine, params, body, call }) => engine.setChannels(params.job, params.dir, params.port, body.channels, call),
  ),

  connect: route(
    {
      method: 'POST',
      path: '/v1/jobs/:job/:dir/:port/connect',
      scope: 'write',
      summary: 'Moves what waits in a port to other ports',
      body: z.strictObject({ to: z.array(target).min(1).max(1_000) }),
      answers: { 200: z.object({ moved: z.int() }) },
    },
    ({ engine, params, body, call }) => engine.connect(params.job, params.dir, params.port, body.to, call),
  ),
}

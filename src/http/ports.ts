import * as z from 'zod'
import {
  builtAgainst,
  channelNames,
  closed,
  count,
  items,
  portLook,
  portRead,
  portWrite,
  target,
} from '../core/schemas.ts'
import { route } from './route.ts'

export const ports = {
  look: route('GET /v1/jobs/:job/:dir/:port', {
    scope: 'read',
    summary: 'Peek at the values of a port',
    description: 'Returns the first values and leaves them in the port.',
    query: z.strictObject({ limit: count(0, 1_000).optional() }),
    answers: { 200: portLook },
    handle: ({ engine, params, query }) => engine.ports.get(params.job, params.dir, params.port, query.limit),
  }),

  write: route('POST /v1/jobs/:job/:dir/:port', {
    scope: 'write',
    summary: 'Write values to a port',
    description:
      'Values at an input port wake the job, and values at an output port wake its parent, unless `notify` is false. Values at an output port are also published on the channels of the port.',
    body: portWrite,
    answers: { 200: z.object({ size: z.int() }) },
    handle: ({ engine, params, body: { values, value, ...options }, call }) =>
      engine.ports.write(params.job, params.dir, params.port, values ?? [value!], options, call),
  }),

  read: route('POST /v1/jobs/:job/:dir/:port/read', {
    scope: 'write',
    summary: 'Read values from a port',
    description: 'Removes and returns values. If no value is waiting, returns the default of the port.',
    body: portRead,
    answers: { 200: z.object({ values: items }) },
    handle: ({ engine, params, body, call }) => engine.ports.take(params.job, params.dir, params.port, body, call),
  }),

  setDefault: route('PUT /v1/jobs/:job/:dir/:port/default', {
    scope: 'write',
    summary: 'Set the default of a port',
    description: 'A read returns the default if no value is waiting.',
    body: z.strictObject({ value: closed, schema: builtAgainst }),
    handle: ({ engine, params, body, call }) =>
      engine.ports.setDefault(params.job, params.dir, params.port, body.value, call, body.schema),
  }),

  clearDefault: route('DELETE /v1/jobs/:job/:dir/:port/default', {
    scope: 'write',
    summary: 'Remove the default of a port',
    description: 'A read then returns nothing if no value is waiting.',
    handle: ({ engine, params, call }) => engine.ports.setDefault(params.job, params.dir, params.port, undefined, call),
  }),

  setChannels: route('PUT /v1/jobs/:job/:dir/:port/channels', {
    scope: 'write',
    summary: 'Set the channels of a port',
    description:
      'An input port receives the messages of its channels. An output port publishes its values on its channels.',
    body: z.strictObject({ channels: channelNames }),
    handle: ({ engine, params, body, call }) =>
      engine.ports.setChannels(params.job, params.dir, params.port, body.channels, call),
  }),

  connect: route('POST /v1/jobs/:job/:dir/:port/connect', {
    scope: 'write',
    summary: 'Connect a port to other ports',
    description:
      'Takes waiting values of the port, and appends them to each port in `to`. A call appends at most 5,000 values in total.',
    body: z.strictObject({ to: z.array(target).min(1).max(1_000) }),
    answers: { 200: z.object({ moved: z.int() }) },
    handle: ({ engine, params, body, call }) =>
      engine.ports.connect(params.job, params.dir, params.port, body.to, call),
  }),
}

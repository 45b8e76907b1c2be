// Flows: their graphs, changed while they run, what stands at their wires, and graphs that are stored.

import * as z from 'zod'
import { graph } from '../core/graph.ts'
import { done, flag, graphChange, items, values, wireName, wireView } from '../core/schemas.ts'
import { route } from './route.ts'

const preview = z.strictObject({ preview: flag.optional() })
const changed = { 200: graphChange }

export const flows = {
  graph: route(
    {
      method: 'GET',
      path: '/v1/flows/:job/graph',
      scope: 'read',
      summary: 'Shows the graph of a flow',
      answers: { 200: graph },
    },
    ({ engine, params }) => engine.graph(params.job),
  ),

  setGraph: route(
    {
      method: 'PUT',
      path: '/v1/flows/:job/graph',
      scope: 'write',
      summary:
        'Gives a running flow another graph, all of it in one step; with preview=true only says what that would do',
      query: preview,
      body: graph,
      answers: changed,
    },
    ({ engine, params, query, body, call }) => engine.setGraph(params.job, body, query, call),
  ),

  postGraph: route(
    {
      method: 'POST',
      path: '/v1/flows/:job/graph',
      scope: 'write',
      summary: 'The same; as a POST it can carry an Idempotency-Key',
      query: preview,
      body: graph,
      answers: changed,
    },
    ({ engine, params, query, body, call }) => engine.setGraph(params.job, body, query, call),
  ),

  undo: route(
    {
      method: 'POST',
      path: '/v1/flows/:job/undo',
      scope: 'write',
      summary: 'Brings back the graph before the last one, up to five times in a row',
      answers: changed,
    },
    ({ engine, params, call }) => engine.undoGraph(params.job, call),
  ),

  wires: route(
    {
      method: 'GET',
      path: '/v1/flows/:job/wires',
      scope: 'read',
      summary: 'Lists the wires of a flow: how many values wait, the oldest, and how many pass in a minute',
      answers: { 200: z.object({ wires: z.array(wireView) }) },
    },
    ({ engine, params }) => engine.wires(params.job),
  ),

  inject: route(
    {
      method: 'POST',
      path: '/v1/flows/:job/wires/:wire/inject',
      scope: 'write',
      summary: 'Puts values into the far end of one wire',
      body: z.strictObject({ values }),
      answers: { 200: z.object({ size: z.int() }) },
    },
    ({ engine, params, body, call }) => engine.inject(params.job, params.wire, body.values, call),
  ),

  drain: route(
    {
      method: 'POST',
      path: '/v1/flows/:job/wires/:wire/drain',
      scope: 'write',
      summary: 'Takes what waits at the far end of a wire',
      body: z.strictObject({ max: z.int().min(1).max(10_000).optional() }),
      answers: { 200: z.object({ values: items }) },
    },
    ({ engine, params, body, call }) => engine.drain(params.job, params.wire, body, call),
  ),

  move: route(
    {
      method: 'POST',
      path: '/v1/flows/:job/wires/:wire/move',
      scope: 'write',
      summary: 'Moves what waits at the far end of a wire to that of another',
      body: z.strictObject({ to: wireName }),
      answers: { 200: z.object({ moved: z.int() }) },
    },
    ({ engine, params, body, call }) => engine.moveWire(params.job, params.wire, body.to, call),
  ),
}

export const graphs = {
  get: route(
    {
      method: 'GET',
      path: '/v1/graphs/:name',
      scope: 'read',
      summary: 'Shows a stored graph',
      answers: { 200: graph },
    },
    ({ engine, params }) => engine.storedGraph(params.name),
  ),

  set: route(
    {
      method: 'PUT',
      path: '/v1/graphs/:name',
      scope: 'write',
      summary: 'Stores a graph under a name, for flows that are made with it',
      body: graph,
      answers: { 200: done },
    },
    ({ engine, params, body }) => engine.storeGraph(params.name, body),
  ),

  remove: route(
    {
      method: 'DELETE',
      path: '/v1/graphs/:name',
      scope: 'write',
      summary: 'Forgets a stored graph; flows that were made with it keep theirs',
      answers: { 200: done },
    },
    ({ engine, params }) => engine.dropGraph(params.name),
  ),
}

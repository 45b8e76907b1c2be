// Flows: their graphs, changed while they run, what stands at their wires, and graphs that are stored.

import type { Context } from 'hono'
import * as z from 'zod'
import { graph } from '../core/graph.ts'
import {
  className,
  count,
  cursor,
  DAY,
  done,
  duration,
  flag,
  flowEvent,
  flowNode,
  flowRow,
  graphChange,
  items,
  logCursor,
  moment,
  span,
  statusList,
  values,
  wireName,
  wireView,
} from '../core/schemas.ts'
import { reply, route } from './route.ts'

const preview = z.strictObject({ preview: flag.optional() })
const changed = { 200: graphChange }

const flowView = z.object({
  flow: flowRow,
  hash: z
    .string()
    .nullable()
    .meta({ description: 'stands for the graph in force: an If-Match for those that change it' }),
  undo: z.int().meta({ description: 'how many graphs back one can go' }),
  record: span.nullable().meta({ description: 'for how long it is told what it did; null where nothing is recorded' }),
  graph: graph.nullable(),
  nodes: z.array(flowNode),
  wires: z.array(wireView),
})

const version = z.object({
  hash: z.string(),
  at: moment.nullable().meta({ description: 'when it came into force' }),
  by: z.string().nullable().meta({ description: 'the API key that put it; null where it came by its port' }),
  back: z.boolean().meta({ description: 'it came back by an undo' }),
  nodes: z.int(),
  edges: z.int(),
  graph,
})

/** The hash in an `If-Match`, with its quotation marks or without. */
const matchOf = ({ req }: Context): { match?: string } => {
  const match = /^(?:W\/)?"?([^"]*)"?$/.exec(req.header('if-match')?.trim() ?? '')?.[1]
  return match ? { match } : {}
}

export const flows = {
  list: route(
    {
      method: 'GET',
      path: '/v1/flows',
      scope: 'read',
      summary: 'Lists flows, newest first: how many nodes have something to do, and what waits at their wires',
      query: z.strictObject({
        status: statusList.optional(),
        cursor: cursor.optional(),
        limit: count(1, 50).optional(),
      }),
      answers: { 200: z.object({ flows: z.array(flowRow), cursor: z.string().nullable() }) },
    },
    ({ engine, query }) => engine.flows(query),
  ),

  get: route(
    {
      method: 'GET',
      path: '/v1/flows/:job',
      scope: 'read',
      summary: 'Shows a flow with its graph, its nodes and its wires, all of one moment',
      answers: { 200: flowView },
    },
    ({ engine, params }) => engine.flow(params.job),
  ),

  history: route(
    {
      method: 'GET',
      path: '/v1/flows/:job/history',
      scope: 'read',
      summary: 'Lists the graph in force and up to five before it, newest first, with when and by whom each came',
      answers: { 200: z.object({ versions: z.array(version) }) },
    },
    ({ engine, params }) => engine.graphHistory(params.job),
  ),

  graph: route(
    {
      method: 'GET',
      path: '/v1/flows/:job/graph',
      scope: 'read',
      summary: 'Shows the graph of a flow; its ETag stands for it',
      answers: { 200: graph },
    },
    async ({ engine, params }) => {
      const { graph: shown, hash } = await engine.graph(params.job)
      return reply(200, shown, { etag: `"${hash}"` })
    },
  ),

  setGraph: route(
    {
      method: 'PUT',
      path: '/v1/flows/:job/graph',
      scope: 'write',
      summary:
        'Gives a running flow another graph, all of it in one step; with preview=true only says what that would do',
      matches: true,
      query: preview,
      body: graph,
      answers: changed,
    },
    ({ engine, params, query, body, call, c }) => engine.setGraph(params.job, body, { ...query, ...matchOf(c) }, call),
  ),

  postGraph: route(
    {
      method: 'POST',
      path: '/v1/flows/:job/graph',
      scope: 'write',
      summary: 'The same; as a POST it can carry an Idempotency-Key',
      matches: true,
      query: preview,
      body: graph,
      answers: changed,
    },
    ({ engine, params, query, body, call, c }) => engine.setGraph(params.job, body, { ...query, ...matchOf(c) }, call),
  ),

  undo: route(
    {
      method: 'POST',
      path: '/v1/flows/:job/undo',
      scope: 'write',
      summary:
        'Brings back the graph before the last one, up to five times in a row; with preview=true only says what that would do',
      matches: true,
      query: preview,
      answers: changed,
    },
    ({ engine, params, query, call, c }) => engine.undoGraph(params.job, { ...query, ...matchOf(c) }, call),
  ),

  events: route(
    {
      method: 'GET',
      path: '/v1/flows/:job/record',
      scope: 'read',
      summary: 'Shows what a recorded flow did, oldest first: the newest, or those before or after an event',
      query: z
        .strictObject({
          after: logCursor.optional(),
          before: logCursor.optional(),
          limit: count(1, 1_000).default(500),
        })
        .refine(({ after, before }) => after === undefined || before === undefined, {
          message: 'expected after or before, got both',
          path: ['before'],
        }),
      answers: {
        200: z.object({ keep: span.nullable(), events: z.array(flowEvent), cursor: z.string().nullable() }),
      },
    },
    ({ engine, params, query }) => engine.flowRecord(params.job, query),
  ),

  record: route(
    {
      method: 'PUT',
      path: '/v1/flows/:job/record',
      scope: 'write',
      summary: 'Writes down what a flow does from now on, and tells it for so long',
      body: z.strictObject({
        keep: duration.refine((ms) => ms >= 60_000 && ms <= 7 * DAY, 'expected a minute to 7 days'),
      }),
      answers: { 200: done },
    },
    ({ engine, params, body, call }) => engine.recordFlow(params.job, body.keep, call),
  ),

  forget: route(
    {
      method: 'DELETE',
      path: '/v1/flows/:job/record',
      scope: 'write',
      summary: 'Stops recording a flow, and forgets what was recorded',
      answers: { 200: done },
    },
    ({ engine, params, call }) => engine.recordFlow(params.job, null, call),
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

const storedGraph = z.object({
  name: z.string(),
  nodes: z.int().optional().meta({ description: 'with details' }),
  edges: z.int().optional().meta({ description: 'with details' }),
})

export const graphs = {
  list: route(
    {
      method: 'GET',
      path: '/v1/graphs',
      scope: 'read',
      summary:
        'Lists the names of stored graphs; the cursor is the last of them. With details 20 at most, each with its size',
      query: z.strictObject({
        cursor: className.optional(),
        limit: count(1, 1_000).optional(),
        details: flag.optional().meta({ description: 'how many nodes and edges each has, too' }),
      }),
      answers: { 200: z.object({ graphs: z.array(storedGraph), cursor: z.string().nullable() }) },
    },
    ({ engine, query: { cursor: after, ...page } }) => engine.storedGraphs({ after, ...page }),
  ),

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

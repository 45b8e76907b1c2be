import type { Context } from 'hono'
import * as z from 'zod'
import { flowView, graph, graphVersion } from '../core/graph.ts'
import {
  className,
  count,
  cursor,
  duration,
  flag,
  flowEvent,
  flowRow,
  graphChange,
  items,
  logCursor,
  portName,
  preview,
  queueName,
  span,
  statusList,
  tried,
  values,
  wireName,
  wireView,
  within,
} from '../core/schemas.ts'
import { DAY } from '../core/units.ts'
import { type Asked, reply, route } from './route.ts'

const changed = { 200: graphChange }

const matchOf = ({ req }: Context): { match?: string } => {
  const match = /^(?:W\/)?"?([^"]*)"?$/.exec(req.header('if-match')?.trim() ?? '')?.[1]
  return match ? { match } : {}
}

const replacement = {
  scope: 'write',
  matches: true,
  query: preview,
  body: graph,
  answers: changed,
  handle: ({ engine, params, query, body, call, c }: Asked<'/v1/flows/:job/graph', typeof preview, typeof graph>) =>
    engine.flows.setGraph(params.job, body, { ...query, ...matchOf(c) }, call),
} as const

export const flows = {
  list: route('GET /v1/flows', {
    scope: 'read',
    summary: 'List flows',
    description: 'Returns flows, newest first, each with its number of running nodes, queued nodes and waiting values.',
    query: z.strictObject({
      status: statusList.optional(),
      cursor: cursor.optional(),
      limit: count(1, 50).optional(),
    }),
    answers: { 200: z.object({ flows: z.array(flowRow), cursor: z.string().nullable() }) },
    handle: ({ engine, query }) => engine.flows.list(query),
  }),

  get: route('GET /v1/flows/:job', {
    scope: 'read',
    summary: 'Get a flow',
    description: 'Returns the graph, nodes and wires of the flow as one consistent snapshot.',
    answers: { 200: flowView },
    handle: ({ engine, params }) => engine.flows.get(params.job),
  }),

  history: route('GET /v1/flows/:job/history', {
    scope: 'read',
    summary: "List the versions of a flow's graph",
    description:
      'Returns the current graph and up to five previous graphs, newest first, each with its time and author.',
    answers: { 200: z.object({ versions: z.array(graphVersion) }) },
    handle: ({ engine, params }) => engine.flows.graphHistory(params.job),
  }),

  graph: route('GET /v1/flows/:job/graph', {
    scope: 'read',
    summary: 'Get the graph of a flow',
    description: 'Returns the graph with an `ETag`. Send the `ETag` as `If-Match` to change exactly this version.',
    answers: { 200: graph },
    handle: async ({ engine, params }) => {
      const { graph: shown, hash } = await engine.flows.graph(params.job)
      return reply(200, shown, { etag: `"${hash}"` })
    },
  }),

  setGraph: route('PUT /v1/flows/:job/graph', {
    ...replacement,
    summary: 'Replace the graph of a running flow',
    description: 'The change is atomic. `preview=true` is a dry run: it returns what would change.',
  }),

  postGraph: route('POST /v1/flows/:job/graph', {
    ...replacement,
    summary: 'Replace the graph of a running flow, with an idempotency key',
    description: 'Does the same as `PUT`, but accepts an `Idempotency-Key`.',
  }),

  undo: route('POST /v1/flows/:job/undo', {
    scope: 'write',
    summary: "Undo the last change of a flow's graph",
    description: 'Up to five changes can be undone. `preview=true` is a dry run.',
    matches: true,
    query: preview,
    answers: changed,
    handle: ({ engine, params, query, call, c }) =>
      engine.flows.undoGraph(params.job, { ...query, ...matchOf(c) }, call),
  }),

  events: route('GET /v1/flows/:job/record', {
    scope: 'read',
    summary: 'List the recorded events of a flow',
    description: 'Returns the newest events, or the events before or after a given event, in chronological order.',
    query: z
      .strictObject({
        after: logCursor.optional(),
        before: logCursor.optional(),
        limit: count(1, 1_000).default(500),
      })
      .refine(({ after, before }) => after === undefined || before === undefined, {
        message: 'expected "after" or "before", got both',
        path: ['before'],
      }),
    answers: {
      200: z.object({ keep: span.nullable(), events: z.array(flowEvent), cursor: z.string().nullable() }),
    },
    handle: ({ engine, params, query }) => engine.flows.recorded(params.job, query),
  }),

  record: route('PUT /v1/flows/:job/record', {
    scope: 'write',
    summary: 'Start recording a flow',
    description: 'Events are kept for the given time.',
    body: z.strictObject({
      keep: duration.refine(...within(60_000, 7 * DAY, '1 minute to 7 days')),
    }),
    handle: ({ engine, params, body, call }) => engine.flows.record(params.job, body.keep, call),
  }),

  forget: route('DELETE /v1/flows/:job/record', {
    scope: 'write',
    summary: 'Stop recording a flow and delete its events',
    description: 'The flow itself continues.',
    handle: ({ engine, params, call }) => engine.flows.record(params.job, null, call),
  }),

  wires: route('GET /v1/flows/:job/wires', {
    scope: 'read',
    summary: 'List the wires of a flow',
    description:
      'Returns each wire with its number of waiting values, the time of the oldest value, and the number of values read per minute.',
    answers: { 200: z.object({ wires: z.array(wireView) }) },
    handle: ({ engine, params }) => engine.flows.wires(params.job),
  }),

  inject: route('POST /v1/flows/:job/wires/:wire/inject', {
    scope: 'write',
    summary: 'Inject values into a wire',
    description: 'Adds values at the end of the wire, behind the values that already wait there.',
    body: z.strictObject({ values }),
    answers: { 200: z.object({ size: z.int() }) },
    handle: ({ engine, params, body, call }) => engine.flows.inject(params.job, params.wire, body.values, call),
  }),

  drain: route('POST /v1/flows/:job/wires/:wire/drain', {
    scope: 'write',
    summary: 'Drain a wire',
    description:
      'Removes and returns at most `max` values (10,000 by default) that wait at the end of the wire, or at its start if the node at its end has not started.',
    body: z.strictObject({ max: z.int().min(1).max(10_000).optional() }),
    answers: { 200: z.object({ values: items }) },
    handle: ({ engine, params, body, call }) => engine.flows.drain(params.job, params.wire, body, call),
  }),

  try: route('POST /v1/flows/:job/wires/:wire/try', {
    scope: 'write',
    summary: 'Try a function on the last values of a wire',
    description:
      'Runs a function of this deployment on up to 20 values, without steps or `job.env`. The response has the values that the function wrote; nothing is stored. Requests that the function makes with `fetch` outside of a step are really sent.',
    body: z.strictObject({ queue: queueName.default('default'), class: className, in: portName.default('in') }),
    answers: { 200: z.object({ runs: z.array(tried) }) },
    handle: ({ engine, params, body }) => engine.flows.tryWire(params.job, params.wire, body),
  }),

  move: route('POST /v1/flows/:job/wires/:wire/move', {
    scope: 'write',
    summary: 'Move the values of a wire to another wire',
    description: 'Moves at most 10,000 waiting values to the end of the other wire, in order.',
    body: z.strictObject({ to: wireName }),
    answers: { 200: z.object({ moved: z.int() }) },
    handle: ({ engine, params, body, call }) => engine.flows.moveWire(params.job, params.wire, body.to, call),
  }),
}

const storedGraph = z.object({
  name: z.string(),
  nodes: z.int().optional().describe('number of nodes. Present if details=true'),
  edges: z.int().optional().describe('number of edges. Present if details=true'),
})

export const graphs = {
  list: route('GET /v1/graphs', {
    scope: 'read',
    summary: 'List stored graphs',
    description: 'With `details=true`, returns at most 20 graphs per page, with their numbers of nodes and edges.',
    query: z.strictObject({
      cursor: className.optional(),
      limit: count(1, 1_000).optional(),
      details: flag.optional().describe('true to add the number of nodes and edges'),
    }),
    answers: { 200: z.object({ graphs: z.array(storedGraph), cursor: z.string().nullable() }) },
    handle: ({ engine, query: { cursor: after, ...page } }) => engine.graphs.list({ after, ...page }),
  }),

  get: route('GET /v1/graphs/:name', {
    scope: 'read',
    summary: 'Get a stored graph',
    description: 'Returns the nodes, edges and ports of the graph.',
    answers: { 200: graph },
    handle: ({ engine, params }) => engine.graphs.get(params.name),
  }),

  set: route('PUT /v1/graphs/:name', {
    scope: 'write',
    summary: 'Create or replace a stored graph',
    description: 'Flows refer to the graph by name. Running flows do not change.',
    body: graph,
    handle: ({ engine, params, body, call }) => engine.graphs.set(params.name, body, call),
  }),

  remove: route('DELETE /v1/graphs/:name', {
    scope: 'write',
    summary: 'Delete a stored graph',
    description: 'Flows that were created from the graph keep their copy.',
    handle: ({ engine, params, call }) => engine.graphs.remove(params.name, call),
  }),
}

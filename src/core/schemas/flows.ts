// Flows: graphs and wires.

import * as z from 'zod'
import { dir, jobId, status } from './names.ts'
import { pastRun } from './past-runs.ts'
import { closed, moment } from './values.ts'

const WIRE = 'a wire: from>to, each a port of the flow or node.port'
export const wireName = z
  .string()
  .refine((text) => text.length > 0 && text.length <= 800, `expected ${WIRE}`)
  .meta({ description: WIRE })

const end = z.object({ node: z.string().nullable(), port: z.string() })
const nodeJob = z.object({ node: z.string(), job: jobId })

/** What a new graph did, or would do. */
export const graphChange = z.object({
  applied: z.boolean(),
  /** Nodes that become new jobs; others start when something reaches them. */
  start: z.array(z.string()),
  adopt: z.array(z.string()),
  stop: z.array(nodeJob),
  replace: z.array(nodeJob),
  wires: z.object({ added: z.array(z.string()), removed: z.array(z.string()) }),
  /** Values that stay behind, where they are. */
  orphaned: z.array(z.object({ node: z.string().nullable(), job: jobId, dir, port: z.string(), values: z.int() })),
  unfit: z
    .array(
      z.object({
        wire: z.string(),
        job: jobId,
        port: z.string(),
        values: z.int(),
        of: z.int().meta({ description: 'how many of those that wait there were looked at: the first hundred' }),
        why: z.string().meta({ description: 'what is wrong with the first of them' }),
      }),
    )
    .optional()
    .meta({
      description:
        'told by previews where there are some: values that wait at the near end of a new wire and that the class at its far end does not take',
    }),
})
export type GraphChange = z.output<typeof graphChange>

export const wireView = z.object({
  id: z.string(),
  from: end,
  to: end,
  laid: z.boolean().meta({ description: 'whether both ends are there: values pass as they come' }),
  size: z.int().meta({ description: 'how many values wait at its far end; wires that end in one port share them' }),
  behind: z.int().meta({ description: 'how many wait at its near end' }),
  oldest: z.object({ data: closed, context: closed.optional() }).nullable(),
  oldestAt: moment.nullable().meta({ description: 'when the oldest of those that wait came over the wire' }),
  rate: z.number().meta({ description: 'values a minute' }),
  in: z
    .array(z.int())
    .meta({ description: 'how many came over it in each of the last ten minutes, the last of them this one' }),
  out: z.array(z.int()).meta({ description: 'how many were taken from its far end in each of those minutes' }),
})
export type WireView = z.output<typeof wireView>

/** A flow in short. */
export const flowRow = z.object({
  id: jobId,
  name: z.string().meta({ description: 'what its graph is called, or its alias, or its class' }),
  aliases: z.array(z.string()),
  status,
  createdAt: moment,
  nodes: z.int(),
  active: z.int().meta({ description: 'nodes that have something to do: queued, running or suspended' }),
  wires: z.int(),
  values: z.int().meta({ description: 'how many values wait at its wires' }),
  oldestAt: moment.nullable(),
  changedAt: moment.nullable().meta({ description: 'when its graph came into force' }),
  changedBy: z.string().nullable().meta({ description: 'the API key that changed it; null where it came by its port' }),
})
export type FlowRow = z.output<typeof flowRow>

/** What one script has done to a flow. */
export const flowEvent = z.object({
  id: z.string(),
  at: moment,
  moves: z
    .array(
      z.object({
        ...{ node: z.string().nullable(), job: jobId },
        ...{ was: status.nullable(), is: status, run: pastRun.nullable() },
      }),
    )
    .meta({ description: 'nodes that moved, null is the flow itself; beside it the run that ended' }),
  counts: z
    .array(z.object({ node: z.string().nullable(), dir, port: z.string(), was: z.int(), is: z.int() }))
    .meta({ description: 'how many values waited at a port, before and after' }),
  more: z.int().meta({ description: 'how much more it did that had no room' }),
})
export type FlowEvent = z.output<typeof flowEvent>

/** A node of a flow, and its job once it has one. */
export const flowNode = z.object({
  name: z.string(),
  queue: z.string(),
  class: z.string(),
  job: jobId.nullable().meta({ description: 'null until something reaches it' }),
  status: status.nullable(),
  ranAt: moment.nullable(),
  lastRun: pastRun.nullable(),
  limit: z.string().nullable().meta({ description: 'the limit that it waits at' }),
  leaseUntil: moment.nullable(),
  until: moment.nullable().meta({ description: 'when it may go on, where it waits for a moment' }),
})
export type FlowNodeView = z.output<typeof flowNode>

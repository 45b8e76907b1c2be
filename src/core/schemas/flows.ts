import * as z from 'zod'
import { dir, jobId, status } from './names.ts'
import { pastRun } from './past-runs.ts'
import { closed, moment } from './values.ts'

const WIRE = 'a wire: from>to, where each side is a port of the flow, or node.port'
export const wireName = z
  .string()
  .refine((text) => text.length > 0 && text.length <= 800, `expected ${WIRE}`)
  .describe(WIRE)

const node = z.string().nullable()
const end = z.object({ node, port: z.string() })
const nodeJob = z.object({ node: z.string(), job: jobId })

export const graphChange = z.object({
  applied: z.boolean(),
  start: z.array(z.string()),
  adopt: z.array(z.string()),
  stop: z.array(nodeJob),
  replace: z.array(nodeJob),
  wires: z.object({ added: z.array(z.string()), removed: z.array(z.string()) }),
  orphaned: z.array(z.object({ node, job: jobId, dir, port: z.string(), values: z.int() })),
  unfit: z
    .array(
      z.object({
        wire: z.string(),
        job: jobId,
        port: z.string(),
        values: z.int(),
        of: z.int().describe('number of waiting values that were checked: at most the first 100'),
        why: z.string().describe('error of the first value that does not fit'),
      }),
    )
    .optional()
    .describe(
      'values at the start of a new wire that do not fit the schema of the port at its end. Present in previews',
    ),
})
export type GraphChange = z.output<typeof graphChange>

export const wireView = z.object({
  id: z.string(),
  from: end,
  to: end,
  laid: z.boolean().describe('true if both ends of the wire exist, so that values can pass'),
  size: z
    .int()
    .describe('number of values waiting at the end of the wire; all wires to the same port share these values'),
  behind: z.int().describe('number of values waiting at the start of the wire'),
  oldest: z.object({ data: closed, context: closed.optional() }).nullable(),
  oldestAt: moment.nullable().describe('time at which the oldest waiting value arrived over the wire'),
  passed: z
    .array(z.object({ data: closed, at: moment.nullable() }))
    .describe('last values that passed through the wire, newest first: at most 20 values and 2,048 bytes in total'),
  rate: z.number().describe('number of values per minute that are read from the end of the wire'),
  in: z
    .array(z.int())
    .describe(
      'number of values that left the start of the wire in each of the last ten minutes; the last entry is the current minute',
    ),
  out: z
    .array(z.int())
    .describe('number of values that were read from the end of the wire in each of the last ten minutes'),
})
export type WireView = z.output<typeof wireView>

export const tried = z.object({
  in: closed,
  out: z.record(z.string(), z.array(closed)).describe('values that the function wrote, by output port'),
  note: z.string().optional().describe('reason why the run ended early or failed'),
})
export type Tried = z.output<typeof tried>

export const flowRow = z.object({
  id: jobId,
  name: z.string().describe('name of the graph, or else the alias or class of the flow'),
  aliases: z.array(z.string()),
  status,
  createdAt: moment,
  nodes: z.int(),
  active: z.int().describe('number of nodes that have not ended'),
  running: z.int().describe('number of running nodes'),
  queued: z.int().describe('number of queued nodes'),
  failed: z.int().describe('number of failed nodes'),
  wires: z.int(),
  values: z.int().describe('number of values waiting on the wires of the flow'),
  oldestAt: moment.nullable(),
  changedAt: moment.nullable().describe('time of the last graph change'),
  changedBy: z
    .string()
    .nullable()
    .describe('API key of the last graph change; null if the graph came through a port of the flow'),
})
export type FlowRow = z.output<typeof flowRow>

export const flowEvent = z.object({
  id: z.string(),
  at: moment,
  moves: z
    .array(
      z.object({
        node,
        job: jobId,
        was: status.nullable(),
        is: status,
        run: pastRun.nullable(),
      }),
    )
    .describe('nodes whose status changed, each with the run that ended; `node` is null for the flow itself'),
  counts: z
    .array(z.object({ node, dir, port: z.string(), was: z.int(), is: z.int() }))
    .describe('number of values waiting at a port, before and after the event'),
  more: z.int().describe('number of further changes, which the event does not list'),
})
export type FlowEvent = z.output<typeof flowEvent>

export const flowNode = z.object({
  name: z.string(),
  queue: z.string(),
  class: z.string(),
  job: jobId.nullable().describe('job of the node; null until the node starts'),
  status: status.nullable(),
  ranAt: moment.nullable(),
  lastRun: pastRun.nullable(),
  limit: z.string().nullable().describe('limit that the job is waiting for'),
  leaseUntil: moment.nullable(),
  until: moment.nullable().describe('time at which the job continues, if it waits for a time'),
})
export type FlowNodeView = z.output<typeof flowNode>

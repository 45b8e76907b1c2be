// Flows: graphs and wires.

import * as z from 'zod'
import { dir, jobId } from './names.ts'
import { closed } from './values.ts'

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
})

export const wireView = z.object({
  id: z.string(),
  from: end,
  to: end,
  laid: z.boolean(),
  size: z.int(),
  behind: z.int(),
  oldest: z.object({ data: closed, context: closed.optional() }).nullable(),
  rate: z.number(),
})

import * as z from 'zod'
import { limits } from './limits.ts'
import { atMost } from './schemas/at-most.ts'
import {
  alias,
  backoffMembers,
  builtAgainst,
  byPort,
  channelName,
  channelNames,
  childList,
  childName,
  className,
  closed,
  codeVersion,
  dir,
  group,
  inputs,
  jobHead,
  jobId,
  label,
  labels,
  parentRef,
  portName,
  portSpecs,
  queueName,
  stateChange,
  values,
  writeOptions,
} from './schemas.ts'

export type { PastRun, PortEffect, RunEffects } from './schemas/past-runs.ts'

const ms = z
  .number()
  .min(0)
  .max(Date.UTC(10_000, 0, 1))
const count = z.int().min(0)
const some = count.max(10_000)

const snapshotItem = z.object({ data: closed, context: closed.optional() })

const snapshotIn = z.object({
  cursor: count,
  values: z.array(snapshotItem),
  more: count,
  default: snapshotItem.optional(),
  channels: z.array(z.string()).optional(),
})

const snapshotOut = z.object({ size: count, default: snapshotItem.optional(), channels: z.array(z.string()) })

const endedChild = z.object({
  id: jobId,
  name: z.string(),
  class: z.string(),
  args: closed.nullable(),
  result: closed.optional(),
  error: closed.optional(),
})

const wiring = z.object({
  /** Absent for a port of the job itself. */
  child: z.string().optional(),
  dir,
  port: z.string(),
  size: count,
  default: z.boolean(),
  to: z.union([z.literal('call'), z.array(z.object({ job: jobId, dir, port: z.string() }))]),
})

export const snapshot = z.object({
  run: z.object({
    token: z.string(),
    attempt: count,
    lost: count,
    reason: z.enum(['run', 'shutdown']),
    timeout: ms,
    startedAt: ms,
    leaseUntil: ms,
    scheduledFor: ms.optional(),
    schema: z.string().optional(),
    traceparent: z.string().optional().describe('trace of the job, for pull workers. Present if the job has a trace'),
  }),
  job: z.object({
    ...jobHead,
    args: closed.nullable(),
    name: z.string().nullable(),
    createdAt: ms,
    createdBy: z.string(),
    labels: z.record(z.string(), z.string()).optional(),
    ranAt: ms.nullable(),
    parent: parentRef,
    aliases: z.array(z.string()),
  }),
  state: z.record(z.string(), closed),
  in: z.record(z.string(), snapshotIn),
  out: z.record(z.string(), snapshotOut),
  children: childList,
  moreChildren: count.optional(),
  steps: z.record(z.string(), closed).optional(),
  wires: z.array(wiring).optional(),
  moreSteps: z.literal(true).optional(),
  family: z
    .object({ finished: z.array(endedChild), cancelled: z.array(endedChild), failed: z.array(endedChild) })
    .optional(),
})

export type SnapshotItem = z.output<typeof snapshotItem>
export type SnapshotIn = z.output<typeof snapshotIn>
export type SnapshotOut = z.output<typeof snapshotOut>
export type Wiring = z.output<typeof wiring>
export type Snapshot = z.output<typeof snapshot>

/** `child` may name a child that the same commit creates. */
export const portRef = z.union(
  [
    z.strictObject({ out: portName }),
    z.strictObject({ in: portName }),
    z.strictObject({ child: childName, in: portName }),
    z.strictObject({ child: childName, out: portName }),
    z.strictObject({ job: jobId, in: portName }),
    z.strictObject({ job: jobId, out: portName }),
  ],
  'expected a port: { in } or { out }, with { child } or { job } if it belongs to another job',
)

const job = { job: jobId }
const child = { child: childName }
const jobRef = z.union([z.strictObject(job), z.strictObject(child)], 'expected a job: { job } or { child }')

const spawn = z.strictObject({
  name: childName,
  queue: queueName.optional(),
  class: className,
  args: closed.optional(),
  inports: portSpecs.optional(),
  outports: portSpecs.optional(),
  inputs: inputs.optional(),
  at: ms.optional(),
  wait: ms.optional(),
  priority: z.int32().optional(),
  retry: z.strictObject({ max: count.max(1_000_000).optional(), backoff: backoffMembers(ms).optional() }).optional(),
  timeout: ms.optional(),
  keepResult: z.union([z.boolean(), ms]).optional(),
  group: group.optional(),
  labels: labels.optional(),
})

const run = { op: z.literal('run'), force: z.boolean().optional(), at: ms.optional(), wait: ms.optional() }
const terminate = { op: z.literal('terminate'), recursive: z.boolean().optional() }
const remove = { op: z.literal('delete'), force: z.boolean().optional() }

const op = z.union([
  z.discriminatedUnion('op', [
    z.strictObject({
      op: z.literal('write'),
      to: portRef,
      values,
      context: closed.optional(),
      ...writeOptions,
    }),
    z.strictObject({ op: z.literal('read'), from: portRef, cursor: count, count: some }),
    z.strictObject({ op: z.literal('default'), of: portRef, value: closed }),
    z.strictObject({ op: z.literal('connect'), from: portRef, to: z.array(portRef).max(1_000) }),
    spawn.extend({ op: z.literal('spawn') }),
    z.strictObject({ op: z.literal('publish'), channel: channelName, message: closed, context: closed.optional() }),
    z.strictObject({ op: z.literal('log'), entry: closed }),
    // Ends the log entry of the preceding ops. `defaults` counts how often the run read each default.
    z.strictObject({
      op: z.literal('entry'),
      reads: byPort(some).optional(),
      defaults: byPort(some).optional(),
      context: closed.optional(),
    }),
    z.strictObject({ ...run, ...job }),
    z.strictObject({ ...terminate, ...job }),
    z.strictObject({ ...remove, ...job }),
    z.strictObject({ op: z.literal('adopt'), job: jobId, name: childName }),
    z.strictObject({ op: z.literal('disown'), child: childName }),
    z.strictObject({ op: z.literal('alias'), add: alias }),
    z.strictObject({
      op: z.literal('ports'),
      in: portSpecs.optional(),
      out: portSpecs.optional(),
      of: jobRef.optional(),
    }),
    z.strictObject({ op: z.literal('wire'), from: portRef, to: z.array(portRef).max(1_000) }),
    z.strictObject({
      op: z.literal('amend'),
      of: jobRef.optional(),
      in: portSpecs.optional(),
      out: portSpecs.optional(),
      drop: z
        .strictObject({ in: z.array(portName).max(1_000).optional(), out: z.array(portName).max(1_000).optional() })
        .optional(),
    }),
    z.strictObject({ op: z.literal('expect'), state: label, value: closed.optional() }),
    z.strictObject({ op: z.literal('channels'), of: portRef, set: channelNames }),
    z.strictObject({ op: z.literal('step'), name: label, value: closed, ms: z.int().min(0).max(1e12).optional() }),
    z.strictObject({ op: z.literal('inherit'), child: childName }),
  ]),
  z.discriminatedUnion('op', [
    z.strictObject({ op: z.literal('default'), of: portRef, clear: z.literal(true) }),
    z.strictObject({ op: z.literal('wire'), from: portRef, call: z.literal(true) }),
    z.strictObject({ ...run, ...child }),
    z.strictObject({ ...terminate, ...child }),
    z.strictObject({ ...remove, ...child }),
    z.strictObject({ op: z.literal('alias'), remove: alias }),
    z.strictObject({ op: z.literal('step'), name: label, forget: z.literal(true) }),
  ]),
])

const runError = z.strictObject({
  message: z.string(),
  reason: z.enum(['other', 'timeout']).optional(),
  retry: z.boolean().optional(),
  detail: closed.optional(),
  stack: z.string().optional(),
  /** Minimum milliseconds until the next retry, as in Retry-After. */
  after: ms.optional(),
})

export const changes = z
  .strictObject({
    end: z.enum(['completed', 'suspended', 'follow', 'failed', 'again', 'checkpoint']),
    n: count
      .optional()
      .describe(
        'number of the commit within the run: 0, 1, …; a commit that is resent with the same number takes effect once',
      ),
    waitFor: z.union([z.literal('children'), z.array(childName).max(10_000)]).optional(),
    at: ms.optional(),
    wait: ms.optional(),
    /** The steps stay stored. The function continues at `until`, or when one of `children` ends. */
    pause: z.strictObject({ until: ms.optional(), children: z.array(childName).max(10_000).optional() }).optional(),
    result: closed.optional(),
    error: runError.optional(),
    reads: byPort(z.strictObject({ cursor: count, count })).optional(),
    state: stateChange.optional(),
    ops: z.array(op).max(limits.ops.most).optional(),
    progress: closed.optional(),
    /** These counts are stored even if the run failed. */
    counts: z
      .record(label, count)
      .refine(...atMost(limits.countNames.most, 'names'))
      .optional(),
    version: codeVersion.optional(),
    schema: builtAgainst,
    saidAt: z.iso
      .datetime({ offset: true, error: 'expected a time such as "2027-01-01T09:00:00Z"' })
      .max(64)
      .optional()
      .describe('time at which the run ended, by the clock of the worker'),
  })
  .refine(({ end, pause }) => pause === undefined || end === 'suspended', {
    error: 'is allowed only if "end" is "suspended"',
    path: ['pause'],
  })

export const heartbeat = z.strictObject({ progress: closed.optional() })

export type PortRef = z.output<typeof portRef>
export type JobRef = z.output<typeof jobRef>
export type PortOptions = z.output<typeof portSpecs>
export type Spawn = z.output<typeof spawn>
export type Op = z.output<typeof op>
export type RunError = z.output<typeof runError>
export type Changes = z.output<typeof changes>

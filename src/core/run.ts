// The run protocol: what a run sees (snapshot) and what it did (changes). Times and durations in milliseconds.

import type { Status } from './job.ts'
import type { Wire } from './value.ts'

export type SnapshotItem = { data: Wire; context?: Wire }
export type SnapshotIn = { cursor: number; values: SnapshotItem[]; more: number; default?: SnapshotItem; channels?: string[] }
export type SnapshotOut = { size: number; default?: SnapshotItem; channels: string[] }

export type Snapshot = {
  run: {
    token: string
    attempt: number
    lost: number
    reason: 'run' | 'shutdown'
    timeout: number
    leaseUntil: number
  }
  job: {
    id: number
    queue: string
    class: string
    args: Wire | null
    name: string | null
    createdAt: number
    createdBy: string
    ranAt: number | null
    parent: { id: number; name: string } | null
    aliases: string[]
  }
  state: Record<string, Wire>
  in: Record<string, SnapshotIn>
  out: Record<string, SnapshotOut>
  children: Record<string, { id: number; status: Status; class: string }>
  /** How many children are not in `children`. */
  moreChildren?: number
  steps?: Record<string, Wire>
}

/** Someone's port: our own, a child's (also one spawned earlier in the same changes), or any job's. */
export type PortRef =
  | { in: string }
  | { out: string }
  | { child: string; in: string }
  | { child: string; out: string }
  | { job: number; in: string }
  | { job: number; out: string }

export type JobRef = { job: number } | { child: string }
export type PortOptions = Record<string, { default?: Wire; channels?: string[] }>

export type Spawn = {
  name: string
  queue?: string
  class: string
  args?: Wire
  inports?: PortOptions
  outports?: PortOptions
  inputs?: Record<string, Wire[]>
  at?: number
  wait?: number
  priority?: number
  retry?: { max?: number; backoff?: { base?: number; factor?: number; cap?: number; jitter?: number } }
  timeout?: number
  keepResult?: boolean | number
}

export type Op =
  | { op: 'write'; to: PortRef; values: Wire[]; context?: Wire; notify?: boolean; log?: boolean; setDefault?: boolean }
  | { op: 'read'; from: PortRef; cursor: number; count: number }
  | { op: 'default'; of: PortRef; value: Wire }
  | { op: 'default'; of: PortRef; clear: true }
  | { op: 'connect'; from: PortRef; to: PortRef[] }
  | ({ op: 'spawn' } & Spawn)
  | { op: 'publish'; channel: string; message: Wire }
  | { op: 'log'; entry: Wire }
  | ({ op: 'run'; force?: boolean; at?: number; wait?: number } & JobRef)
  | ({ op: 'terminate'; recursive?: boolean } & JobRef)
  | ({ op: 'delete'; force?: boolean } & JobRef)
  | { op: 'adopt'; job: number; name: string }
  | { op: 'disown'; child: string }
  | { op: 'alias'; add: string }
  | { op: 'alias'; remove: string }
  | { op: 'ports'; in?: PortOptions; out?: PortOptions; of?: JobRef }
  | { op: 'channels'; of: PortRef; set: string[] }
  | { op: 'step'; name: string; value: Wire }

export type RunError = {
  message: string
  reason?: 'other' | 'timeout'
  retry?: boolean
  detail?: Wire
  stack?: string
  /** Milliseconds before which no retry makes sense (Retry-After). */
  after?: number
}

export type Changes = {
  end: 'completed' | 'suspended' | 'failed' | 'again' | 'checkpoint'
  n?: number
  waitFor?: 'children' | string[]
  at?: number
  wait?: number
  result?: Wire
  error?: RunError
  reads?: Record<string, { cursor: number; count: number }>
  state?: { set?: Record<string, Wire>; unset?: string[] }
  ops?: Op[]
  progress?: Wire
}

// Jobs, ports and results, as they are told.

import type { Encoded } from '../../core/codec/value.ts'
import type { Status } from '../../core/job.ts'
import type { CallbackProgress, JobInput, Ref, Repeat } from './jobs.ts'

export type Enqueued = { id: number; status: Status; existing?: true }

export type Item = { data: Encoded; context?: Encoded; default?: true }

export type PortView = { size: number; taken: number; default?: Encoded; channels: string[] }

export type JobView = {
  id: number
  queue: string
  class: string
  status: Status
  args: Encoded | null
  name: string | null
  parent: { id: number; name: string } | null
  aliases: string[]
  priority: number
  group: string | null
  attempt: number
  lost: number
  createdAt: number
  createdBy: string
  /** The API key that asked for it, as `key:<id>`. */
  by?: string
  ranAt: number | null
  endedAt: number | null
  runAt: number | null
  waitingFor: 'children' | 'parent' | string[] | null
  error: Encoded | null
  progress: Encoded | null
  repeat: Encoded | null
  callback: CallbackProgress | null
  in: Record<string, PortView>
  out: Record<string, PortView>
  children: Record<string, { id: number; class: string; status: Status }>
  /** How many children are not in `children`. */
  moreChildren?: number
}

export type JobPatch = Partial<Pick<JobInput, 'args' | 'priority' | 'retry' | 'timeout' | 'group'>> & {
  repeat?: Repeat | null
  runAt?: number | null
}

export type JobFilter = {
  status?: Status
  queue?: string
  class?: string
  group?: string
  parent?: Ref
  alias?: string
  limit?: number
  cursor?: string
}

export type BulkInput = {
  filter: Omit<JobFilter, 'alias' | 'limit' | 'cursor'>
  action: 'retry' | 'terminate' | 'delete' | 'requeue'
}

export type Result =
  | { type: 'success'; finishedAt: number; saidAt?: string; result: Encoded }
  | {
      type: 'failure'
      finishedAt: number
      /** When it ended by the worker's own clock, as it said it. */
      saidAt?: string
      reason: 'other' | 'timeout'
      message: string
      error: Encoded | null
      /** The worker said that trying again makes no sense. */
      retry?: false
    }

export type Reason = { code: string; message: string; since?: number; until?: number; job?: number; key?: string }

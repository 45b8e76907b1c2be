import type { Encoded } from '../core/codec/value.ts'
import type { FaultKind } from '../core/faults.ts'
import type { Status } from '../core/job.ts'
import type { Reply, Row, Signal } from './answers.ts'
import type { RunOutcome } from './changes.ts'
import type { Quota } from './new-job.ts'
import type { Child, JobRecord, limitSettingsOf } from './record.ts'

export type Ring = { queue: string; bell: string; at?: number }

export type Once = { key: string; period: number; fingerprint?: string }

export type Near = { queues?: readonly string[]; jobs?: readonly string[]; quota?: Quota }

export type Made = { id: number; status: Status; existing?: true }

export type LaneStart = { id: string; max: number; lease: number; begun: number }

export type Enqueued = { made: Made[]; again: boolean; rings: Ring[]; claimed: ClaimedJob[]; stale?: string }

export type ClaimedJob = {
  id: number
  document: JobRecord
  inputs: Record<string, string[]>
  children: string[]
  steps: string[]
  childCount: number
  family: EndedChild[]
  wires: Row<'wiring'>[]
  moreSteps?: true
  fault?: { code: string; message: string }
}

export type { Signal }

export type QueueRow = Row<'queue'>

export type EndedChild = Row<'endedChild'>

export type FlowState = {
  id: number
  document: JobRecord
  children: Record<string, Child>
  /** `left` counts the values that left the port, by minute. `passed` lists values, newest first. */
  ports: (Omit<Row<'wiring'>, 'passed'> & { passed: string[] })[]
  nodes: ReadonlyMap<string, Row<'node'>>
  now: number
}

export type ClaimRequest = {
  max: number
  /** Maximum packed jobs (lib/runtime/pieces.lua). By default, a claim returns at most `max` jobs. */
  wide?: number
  lease: number
  begun?: number
  pull?: boolean
  patterns?: string[]
  tags?: string[]
  priority?: number
  skip?: number
  /** A claim that finds no job waits for `wait` milliseconds. */
  waiter?: { id: string; wait: number }
  calls?: number
  process?: string
  only?: number
}

export type Fault = { kind: FaultKind; who: string; what: string; remedy: string }

export type LaneRequest = {
  id: string
  seq: number
  heard?: readonly string[]
  bell?: string
  /** `next` calls the next lane even if no job is ready, because work continues. */
  leave?: boolean | 'next'
  /** A lane that finds no job claims again if a limit has room within this many milliseconds, so no bell is needed. */
  waits?: number
  /** In milliseconds. */
  warm?: number
}

/** `queue` is absent if the request only commits runs. */
export type CommitRequest = {
  queue?: string
  runs?: RunOutcome[]
  lane?: LaneRequest
  claim?: ClaimRequest
  version?: string
}

export type CommitAnswer = {
  word: Reply<'committed'>['word']
  /** One answer for each run: the new status of its job, 'lost', 'conflict', 'refused:CODE why', or 'later'. */
  answers: string[]
  claimed: ClaimedJob[]
  rings: Ring[]
  nextDue?: number
  /** Milliseconds until `nextDue`, by Redis' clock. */
  dueIn?: number
  stale: { id: number; document: JobRecord }[]
  version: string
  failed: number
  /** Number of entries of the index that the next claim may skip, if there are more. */
  seen?: number
  signal?: Signal
}

export type CallbackJob = { document: JobRecord; error?: Encoded }

/** `total` is set if one index contains exactly the requested jobs. `newest` is the newest id, for pages by id. */
export type Listed = {
  jobs: { id: number; document: JobRecord; callback?: CallbackJob }[]
  cursor: string | null
  total?: number
  newest?: number
  looked?: number
}

/** `jobs` does not count suspended and ended jobs of a group. */
export type KeptLimit = ReturnType<typeof limitSettingsOf>

export type Room = Omit<Reply<'room'>, 'is'>

/** `base`, `cap` and `probing` are in milliseconds. */
export type BreakerSettings = { threshold: number; base: number; cap: number; probing: number }
export type BreakerState = Pick<Reply<'breaker'>, 'state' | 'failures'> & { until?: number }

export type Inspection = {
  id: number
  document: JobRecord
  callback?: CallbackJob
  children: string[]
  childCount: number
  items: string[]
  ahead: number | null
  queue: { paused: boolean; maxLanes: number; lanes: number; pull: boolean }
  limitFree: number | null
  limit?: KeptLimit
  ownLimit?: string
  now: number
  kin?: Listed['jobs']
  /** Jobs that this job waits for. A job with `isWhole: false` lacks its children and its position in the queue. */
  chain?: ReadonlyMap<number, Inspection & { isWhole: boolean }>
}

export type Ready = { id: number; queue: string; since: string; priority: number; ahead: number }

export type BellTrouble = { refused: number; why: string }

// What the verbs of the state take and answer.

import type { Encoded } from '../core/codec/value.ts'
import type { FaultKind } from '../core/faults.ts'
import type { Status } from '../core/job.ts'
import type { Row } from './answers.ts'
import type { RunOutcome } from './changes.ts'
import type { Child, JobRecord, QueueRecord } from './record.ts'

/** A bell to ring: now, or at a moment. */
export type Ring = { queue: string; bell: string; at?: number }

/** The key under which an answer is kept, for how long, and what it was the answer to. */
export type Once = { key: string; period: number; fingerprint?: string }

/** Queues and jobs that a change is likely to reach. */
export type Near = { queues?: readonly string[]; jobs?: readonly string[] }

export type Made = { id: number; status: Status; existing?: true }

/** A lane that begins with the jobs that are made, where nothing was ready before them. */
export type LaneStart = { id: string; max: number; lease: number; begun: number }

export type Enqueued = { made: Made[]; again: boolean; rings: Ring[]; lent: ClaimedJob[]; stale?: string }

/** A job lent to a run: the document as it was, and what stands beside it. */
export type ClaimedJob = {
  id: number
  document: JobRecord
  inputs: Record<string, string[]>
  children: string[]
  steps: string[]
  childCount: number
  /** Children that have ended, of a parent that has waited for them. */
  family: EndedChild[]
  wires: Row<'wiring'>[]
  /** There are more steps than are told unasked. */
  moreSteps?: true
  /** Why there is nothing beside the document: code and message. */
  fault?: { code: string; message: string }
}

/** An ended child: how it ended, its arguments, and its result or error. */
export type EndedChild = {
  id: number
  name: string
  class: string
  how: 'finished' | 'cancelled' | 'failed'
  args: Encoded | null
  left: Encoded | null
}

/** `oldest`: the item that waits longest; `passed`: minute:count:count of the minute before. */
export type FlowState = {
  id: number
  document: JobRecord
  children: Record<string, Child>
  /** `left`: how many values left the port in each of the last minutes, as minute:count:count. */
  ports: Row<'wiring'>[]
  /** By name, of those that have been started. */
  nodes: ReadonlyMap<string, FlowNode>
  now: number
}

/** The job of a node, as far as a flow shows it. */
export type FlowNode = {
  queue: string
  ranAt: number | null
  lastRun: string
  /** The limit that it waits at. */
  limit: string | null
  leaseUntil: number | null
  /** When it may go on, of one that waits for a moment. */
  until: number | null
}

export type ClaimRequest = {
  max: number
  /** How many there may be where they are in pieces, which are lent as a whole; none beyond `max` without it. */
  wide?: number
  lease: number
  begun?: number
  pull?: boolean
  patterns?: string[]
  tags?: string[]
  /** Only jobs of this priority. */
  priority?: number
  /** How many members of the queue to pass over. */
  skip?: number
  /** Who is to be called when this claim finds nothing, for how long. */
  waiter?: { id: string; wait: number }
  /** How many of classes whose runs call others; any number without it. */
  calls?: number
  /** The name of the program that asks. */
  process?: string
  /** Only this job, and for the whole lease that is asked for. */
  only?: number
}

/** What a program that asks for work can be told: to take no new jobs, or to stop. */
export type Signal = 'quiet' | 'stop'

/** Who is at work: lanes, programs that ask under a name, and the runs under way. */
export type AtWork = {
  lanes: { queue: string; lane: string; until: number }[]
  processes: { name: string; since: number; heard: number; signal: Signal | null; queues: string[] }[]
  runs: {
    job: number
    queue: string
    class: string
    token: string
    startedAt: number
    leaseUntil: number
    process?: string
  }[]
  /** There are more runs than are shown. */
  more: boolean
  now: number
}

/** What is not as it must be, and what a repair does about it. */
export type Fault = { kind: FaultKind; who: string; what: string; remedy: string }

/** What a lane says of itself. */
export type LaneRequest = {
  id: string
  seq: number
  /** The tokens of what it was lent with calls, since it last asked. */
  heard?: readonly string[]
  /** The bell that woke it. */
  bell?: string
  /** It leaves; `next`: and work keeps coming, so that the next one is to be called, whether or not something is ready. */
  leave?: boolean | 'next'
  /** For how long it still looks by itself for what comes, when there is nothing and it has left. */
  waits?: number
  /** For how long it would stay and wait to be called, when there is nothing. */
  warm?: number
}

export type CommitRequest = {
  queue: string
  runs?: RunOutcome[]
  lane?: LaneRequest
  claim?: ClaimRequest
}

export type CommitAnswer = {
  /** `warm`: there is nothing, and the lane is called when there is. */
  word: 'ok' | 'empty' | 'warm' | 'more' | 'full' | 'stale'
  /** One word for each run: its job's new status, 'lost', 'conflict' or 'refused:CODE why', or 'later': not committed yet. */
  answers: string[]
  lent: ClaimedJob[]
  rings: Ring[]
  nextDue?: number
  /** The same in milliseconds from now on, by Redis' clock. */
  dueIn?: number
  /** Jobs that wait, tagged by older constraints than these. */
  stale: { id: number; document: JobRecord }[]
  version: string
  /** How many jobs the claim failed instead of lending them. */
  failed: number
  /** How far the claim has looked, when not to the end. */
  seen?: number
  /** What the process that asks was told. */
  signal?: Signal
}

/** The job that tells of another's last end: its document and its last error. */
export type CallbackJob = { document: JobRecord; error?: Encoded }

/**
 * A page of jobs. `total`: number of matches, if an index knows it; `newest`: the newest id, if the page continues by ids, so
 * that the cursor shows the progress of the search.
 */
export type Listed = {
  jobs: { id: number; document: JobRecord; callback?: CallbackJob }[]
  cursor: string | null
  total?: number
  newest?: number
  /** How many were looked through for a text. */
  looked?: number
}

/** What is set of a limit; `reserved`: slots that are promised to jobs that are ready, `jobs`: of a group, those not at rest. */
export type KeptLimit = {
  concurrency: number | null
  rate: { limit: number; period: number } | null
  paused: boolean
  /** Nobody is let through before. */
  shutUntil: number | null
  reserved: number
  jobs: number | null
}

/** A limit from near: who holds its slots, soonest end first, and who waits, in order. */
export type Room = {
  settings: KeptLimit
  running: number
  started: number
  waiting: number
  nextRoom: number | null
  holders: {
    job: number
    queue: string
    class: string
    group: string | null
    startedAt: number | null
    leaseUntil: number
    process: string | null
  }[]
  line: { job: number; queue: string; class: string; group: string | null; priority: number; since: number }[]
  now: number
}

/** When a host that keeps failing is left alone, and for how long: milliseconds. */
export type BreakerSettings = { threshold: number; base: number; cap: number; probing: number }
export type BreakerState = { state: 'closed' | 'open' | 'probe'; failures: number; until?: number }

export type Inspection = {
  id: number
  document: JobRecord
  callback?: CallbackJob
  children: string[]
  childCount: number
  items: string[]
  /** How many are before it in its queue, when it is ready. */
  ahead: number | null
  queue: { paused: boolean; maxLanes: number; lanes: number; pull: boolean }
  /** When the limit that it waits at has room by itself. */
  limitFree: number | null
  /** The limit that it waits at. */
  limit?: KeptLimit
  /** The limit of its worker's own concurrency. */
  ownLimit?: string
  now: number
}

/** A job that is ready: since when, as its sequence says, how urgently, and how many are before it. */
export type Ready = { id: number; queue: string; since: string; priority: number; ahead: number }

/** A queue as it is counted. */
export type QueueRow = {
  name: string
  settings: QueueRecord
  lanes: number
  ready: number
  pull: number
  timers: number
  leases: number
  suspended: number
  completed: number
  failed: number
  terminated: number
  oldest: number | null
}

/** A queue from near: its lanes and bells, the runs under way, the claims that wait, and who is next. */
export type NearQueue = {
  lanes: { lane: string; until: number }[]
  runs: {
    job: number
    class: string
    token: string
    process: string | null
    startedAt: number
    leaseUntil: number
  }[]
  claims: { id: string; until: number; names: string[] }[]
  next: { job: number; class: string; priority: number; since: number; group: string | null; pull: boolean }[]
}

/** Requests in a row that QStash has not taken, and why it did not take the last one. */
export type BellTrouble = { refused: number; why: string }

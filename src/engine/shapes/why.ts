// Why a job is not running, as it is told.

import type { Status } from '../../core/job.ts'
import type { Holder, RoomView } from './limits.ts'
import type { Reason, RunFacts } from './views.ts'

/** A limit that somebody waits at, and who holds its slots, soonest end first. */
export type WhyLimit = RoomView & { holders: Holder[] }

/** A job and why it is not running; `run`: who has it, if it is. */
export type WhyLink = {
  job: number
  class: string
  queue: string
  status: Status
  running: boolean
  run: RunFacts | null
  reasons: Reason[]
  /** The limit that it waits at, where the chain ends with it. */
  limit?: WhyLimit
}

/** `chain`: the jobs behind it, each the cause of the one before. */
export type Why = WhyLink & { chain?: WhyLink[] }

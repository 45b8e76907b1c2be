import type { Status } from '../../core/job.ts'
import type { Holder, RoomView } from './limits.ts'
import type { Reason, RunFacts } from './views.ts'

export type WhyLimit = RoomView & { holders: Holder[] }

export type WhyLink = {
  job: number
  class: string
  queue: string
  status: Status
  running: boolean
  run: RunFacts | null
  reasons: Reason[]
  limit?: WhyLimit
}

export type Why = WhyLink & { chain?: WhyLink[] }

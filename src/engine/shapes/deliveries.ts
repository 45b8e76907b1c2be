import type { Encoded } from '../../core/codec/value.ts'
import type { Code } from '../../core/errors.ts'
import type { ExaminedView } from '../../core/examined.ts'
import type { Status } from '../../core/job.ts'
import type { RunError } from '../../core/run.ts'
import type { EndedChild, Fault } from '../../redis/types.ts'
import type { Heart, Restore } from '../../redis/verbs/standing.ts'
import type { Repeat } from './jobs.ts'
import type { DeliveredJob } from './keys.ts'

export type { EndedChild }

export type DeliveredFilter = { queue: string; class?: string; status?: Status; cursor?: string }

export type DeliveryRequest = {
  names?: string[]
  tags?: string[]
  max?: number
  priority?: number
  wait?: number
  lease?: number
}

export type Delivery = { token: string; job: DeliveredJob; family: EndedChild[] }

export type DeliveryEnd = {
  end: 'completed' | 'suspended' | 'again' | 'failed'
  token?: string
  seizes?: boolean
  waitFor?: 'children'
  at?: number
  wait?: number
  slot?: 'next' | 'keep' | 'asked' | 'none'
  error?: RunError
  args?: Encoded
  priority?: number
  class?: string
  forget?: boolean
}

export type DeliveryUpdate = {
  args?: Encoded
  priority?: number
  repeat?: Repeat | null
  dueAt?: number | 'same'
  was?: Encoded
  counted?: 'anew'
}

/** `restored` is set if Redis contains older data than before. */
export type Health = {
  ok: boolean
  redis: boolean
  ms?: number
  /** Accurate to two minutes. Null for tenants, which have no tick. */
  tickAt?: number | null
  tickBy?: Heart | null
  bellAt?: number | null
  version: string
  restored?: Restore
  examined?: ExaminedView
  problems?: {
    of: 'redis' | 'qstash' | 'data' | 'history'
    code: Code
    message: string
    remedy: string
    inARow?: number
  }[]
}

export type FoundFault = Fault & { link: string }

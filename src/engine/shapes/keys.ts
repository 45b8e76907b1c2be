import type { KeyLimits, Scope } from '../../core/schemas/keys.ts'
import type { Ref } from './jobs.ts'
import type { JobBase } from './views.ts'

export type { ApiKey, AuditEntry, KeyLimits, Scope, Tenant } from '../../core/schemas/keys.ts'

export type Target = { job: Ref; in: string } | { job: Ref; out: string }

export type KnownKey = {
  id: string
  name: string
  scopes: readonly Scope[]
  limits?: KeyLimits
  unlimited?: true
}

export type DeliveredJob = JobBase & {
  dueAt: number
  slot: number | null
  redeliver: string | null
  deliveries: number
  unanswered: boolean
  leaseUntil: number | null
  tag: string | null
  cancelled: boolean
}

import type { Ref } from './jobs.ts'
import type { JobBase } from './views.ts'

export type Target = { job: Ref; in: string } | { job: Ref; out: string }
export type Scope = 'admin' | 'write' | 'read' | 'work'

export type KeyLimits = { requestsPerSecond?: number; jobs?: number; bytes?: number }

export type ApiKey = {
  id: string
  name: string
  scopes: Scope[]
  createdAt: number
  expiresAt?: number
  /** Accurate to an hour. */
  lastUsedAt?: number
  limits?: KeyLimits
}

export type KnownKey = {
  id: string
  name: string
  scopes: readonly Scope[]
  limits?: KeyLimits
  unlimited?: true
}

export type Tenant = { name: string; createdAt: number; limits?: KeyLimits }

export type AuditEntry = {
  by: string
  name: string
  verb: string
  method: string
  path: string
  reason?: string
  change?: string
  was?: string
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

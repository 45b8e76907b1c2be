// API keys, tenants and the audit: who may ask.

import type { Ref } from './jobs.ts'
import type { Call } from './limits.ts'
import type { JobBase } from './views.ts'

export type Target = { job: Ref; in: string } | { job: Ref; out: string }
export type Scope = 'admin' | 'write' | 'read' | 'work'

/** How much a key may ask for. */
export type KeyLimits = { requestsPerSecond?: number; jobs?: number; bytes?: number }

export type ApiKey = {
  id: string
  name: string
  scopes: Scope[]
  createdAt: number
  expiresAt?: number
  /** To the hour. */
  lastUsedAt?: number
  limits?: KeyLimits
}

/** A key that somebody has come with. */
export type KnownKey = {
  id: string
  name: string
  scopes: readonly Scope[]
  limits?: KeyLimits
  /** The deployment's own. */
  unlimited?: true
}

/** Who has asked for what: the key, the verb of the table of routes, method and path. */
export type AuditEntry = { by: string; name: string; verb: string; method: string; path: string }

/** A job as callers see it who know jobs by their ids and keep no tokens. */
export type DeliveredJob = JobBase & {
  /** Since when, or from when on, it is due. */
  dueAt: number
  slot: number | null
  redeliver: string | null
  /** How often it was lent since somebody answered. */
  deliveries: number
  /** Nobody answered its last run, and it has not been lent since. */
  unanswered: boolean
  leaseUntil: number | null
  tag: string | null
  cancelled: boolean
}

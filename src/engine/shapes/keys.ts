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

/** Who may ask, what admins have asked for, and the tenants. */
export interface Access {
  keys(): Promise<{ keys: ApiKey[] }>
  addKey(key: Omit<ApiKey, 'id' | 'createdAt' | 'lastUsedAt'>, call?: Call): Promise<{ id: string; key: string }>
  /** Makes a key that may do the same; the old one ends `overlap` (milliseconds) later, or when it would have. */
  rotateKey(id: string, options: { overlap: number }, call?: Call): Promise<{ id: string; key: string; until: number }>
  removeKey(id: string): Promise<void>
  /** Whose key this is, or undefined. */
  authenticate(key: string): Promise<KnownKey | undefined>
  /** Whether there is a key with this id, and it has not ended. */
  knows(id: string): Promise<boolean>
  /** A name for whoever came with this key, good for `life` milliseconds, or, with `once`, for making one session; undefined for an unknown key. */
  openSession(key: string, options: { life: number; once?: boolean }): Promise<string | undefined>
  /** Returns the key that a session of a name that is good once would have. The name stays good. */
  peekSession(name: string): Promise<KnownKey | undefined>
  /** Makes a session of a name that is good once, which it ends. */
  redeemSession(name: string, life: number): Promise<string | undefined>
  /** Whose session this is: of its key as it is now; undefined when either is over. */
  session(name: string): Promise<KnownKey | undefined>
  endSession(name: string): Promise<void>
  /** Lets this path be asked for without the key, in its name: for a minute, or for `life`. */
  streamToken(key: string, path: string, life?: number): Promise<{ token: string; expiresAt: number }>
  authenticateStream(token: string, path: string): ReturnType<Access['authenticate']>

  /** Writes down what an admin's key asks for. */
  audit(entry: AuditEntry): Promise<void>
  readAudit(page: {
    cursor?: string
    limit?: number
  }): Promise<{ entries: (AuditEntry & { id: string; at: number })[]; cursor: string | null }>

  tenants(): Promise<{ tenants: { name: string; createdAt: number }[] }>
  addTenant(name: string): Promise<void>
  /** Its keys and bells are refused from then on; what it has stays in Redis. */
  removeTenant(name: string): Promise<void>
  hasTenant(name: string): Promise<boolean>
}

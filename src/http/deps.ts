// What the app is made of.

import type { Downloads } from '../core/files.ts'
import type { AuditEntry } from '../engine/engine.ts'
import type { Engine } from '../engine/index.ts'
import type { Limiter } from './gate.ts'
import type { Tenants } from './places.ts'
import type { Signed } from './signature.ts'

export type Deps = {
  engine: Engine
  /** Says whether QStash signed this. */
  verify: (signed: Signed) => Promise<boolean>
  /** Where we are reached from outside, without a slash at the end. */
  publicUrl: string
  /** A key with every scope, beside those in Redis. */
  apiKey?: string
  /** Moves the clock; given in tests only. */
  clock?: { advance: (ms: number) => void | Promise<void> }
  /** Where files are kept; without it there are no downloads. */
  downloads?: Downloads
  /** Gives each tenant a place of its own; without it there are none. */
  tenants?: Tenants
  /** Origins (`https://app.example.com`) whose pages may read streams; `*` for all. */
  origins?: readonly string[]
  limits?: { body?: number }
  /** A rate limit of the platform for callers that are not known. */
  limiter?: Limiter
  /** Gets each entry of the audit before its act, with the address of the deployment or tenant. */
  hearAudit?: (entry: AuditEntry & { url: string }) => void
  /** Hears of errors that nobody expected. */
  report?: (error: unknown) => void
}

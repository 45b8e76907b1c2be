import type { Downloads } from '../core/files.ts'
import type { AuditEntry } from '../engine/engine.ts'
import type { Engine } from '../engine/index.ts'
import type { Limiter } from './gate.ts'
import type { Tenants } from './places.ts'
import type { Signed } from './signature.ts'

export type Deps = {
  engine: Engine
  verify: (signed: Signed) => Promise<boolean>
  /** Without a trailing slash. */
  publicUrl: string
  clock?: { advance: (ms: number) => void | Promise<void> }
  downloads?: Downloads
  tenants?: Tenants
  /** Pages of these origins (`https://app.example.com`) may call the API. `*` allows all origins. */
  origins?: readonly string[]
  limiter?: Limiter
  /** Called before the change, with the address of the deployment or tenant. */
  hearAudit?: (entry: AuditEntry & { url: string }) => void
  report?: (error: unknown) => void
}

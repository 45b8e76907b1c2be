// What a job can ask of the engine while it runs.

import type { Encoded } from '../../core/codec/value.ts'
import type { Adoptable } from '../../core/plan.ts'
import type { Changes, Snapshot } from '../../core/run.ts'

declare global {
  namespace Cloudflare {
    /** What a Worker is given; `wrangler types` writes its members. */
    interface Env {}
  }
}

export type JobTools = {
  /** Commits what was done so far under the same lease. */
  checkpoint: (changes: Changes) => Promise<Snapshot>
  /** The values of our own port behind those in the snapshot. */
  page: (port: string, after: number) => Promise<{ values: { data: Encoded; context?: Encoded }[]; more: number }>
  /** The waiting values of other jobs' ports. */
  peek: (
    of: { id: number; dir: 'in' | 'out'; port: string }[],
  ) => Promise<({ taken: number; values: { data: Encoded }[] } | null)[]>
  /** A job as one that might be adopted; null where there is none. */
  look: (id: number) => Promise<Adoptable | null>
  /** A graph that is stored under a name; null where there is none. */
  storedGraph: (name: string) => Promise<Encoded | null>
  /** Shows how far the run is. */
  progress: (value: Encoded) => Promise<unknown>
  /** What all steps have kept. */
  steps: () => Promise<Record<string, Encoded>>
  /** All children, as they are now. */
  children: () => Promise<Snapshot['children']>
  /** The time that passes in a run. */
  now: () => number
  /** Prefix of all keys in Redis: names the deployment and the tenant. */
  namespace?: string
  /** What the deployment is given: variables, secrets, bindings. */
  env?: unknown
}

import type { CodeChange } from '../../core/code-change.ts'
import type { Encoded } from '../../core/codec/value.ts'
import type { Adoptable } from '../../core/plan.ts'
import type { Changes, Snapshot } from '../../core/run.ts'

declare global {
  namespace Cloudflare {
    /** `wrangler types` adds the members of this interface. */
    interface Env {}
  }
}

export type Rehearsal = {
  reached: (what: string) => void
  changed: (change: CodeChange) => void
  results?: ReadonlyMap<string, Encoded>
}

export type JobTools = {
  checkpoint: (changes: Changes) => Promise<Snapshot>
  page: (port: string, after: number) => Promise<{ values: { data: Encoded; context?: Encoded }[]; more: number }>
  peek: (
    of: { id: number; dir: 'in' | 'out'; port: string }[],
  ) => Promise<({ taken: number; values: { data: Encoded }[] } | null)[]>
  look: (id: number) => Promise<Adoptable | null>
  storedGraph: (name: string) => Promise<Encoded | null>
  progress: (value: Encoded) => Promise<unknown>
  steps: () => Promise<Record<string, Encoded>>
  children: () => Promise<Snapshot['children']>
  now: () => number
  namespace?: string
  env?: unknown
  rehearsal?: Rehearsal
  /** Absent if the job's trace is not sampled. */
  trace?: {
    traceparent: string
    span: <T>(name: string, action: () => T | Promise<T>) => Promise<T>
    link: (context: Encoded) => void
  }
}

/** Values that a snapshot lacks, by the tool that reads them. */
export const beyondSnapshot = {
  page: 'more values of a port than its snapshot has',
  peek: 'values of its children',
  look: 'another job',
  storedGraph: 'a stored graph',
  steps: 'more steps than its snapshot has',
  children: 'more children than its snapshot has',
} as const satisfies Partial<Record<keyof JobTools, string>>

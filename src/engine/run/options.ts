// What a function may say of the jobs that it makes.

import type { Spawn } from '../../core/run.ts'

export type SpawnOptions = Omit<Spawn, 'name' | 'class' | 'queue' | 'args' | 'inputs' | 'inports' | 'outports'> & {
  args?: unknown
  /** First values of its input ports. */
  inputs?: Record<string, unknown[]>
  in?: Record<string, { default?: unknown; channels?: string[] }>
  out?: Record<string, { default?: unknown; channels?: string[] }>
}

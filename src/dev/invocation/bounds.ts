import type { Bounds } from '../../../infra/stand-ins/plan.ts'

export type { Bounds }

export const BOUNDS = 'SIDEJOB_INVOCATION_BOUNDS'

export const boundsVar = (bounds?: Bounds): Record<string, string> =>
  bounds ? { [BOUNDS]: JSON.stringify(bounds) } : {}

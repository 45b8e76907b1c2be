// Limits of an invocation, and how the host passes them to the Worker.

import type { Bounds } from '../../../infra/stand-ins/plan.ts'

export type { Bounds }

/** Variable with the limits, hidden from the Worker. */
export const BOUNDS = 'SIDEJOB_INVOCATION_BOUNDS'

export const boundsVar = (bounds?: Bounds): Record<string, string> =>
  bounds ? { [BOUNDS]: JSON.stringify(bounds) } : {}

// What an invocation of a Worker may do, and how the host tells it the Worker that it serves.

import type { Bounds } from '../../../infra/stand-ins/plan.ts'

export type { Bounds }

/** The variable that tells them; the Worker itself does not see it. */
export const BOUNDS = 'SIDEJOB_INVOCATION_BOUNDS'

/** @example boundsVar({ connections: 6 }) // { SIDEJOB_INVOCATION_BOUNDS: '{"connections":6}' } */
export const boundsVar = (bounds?: Bounds): Record<string, string> =>
  bounds ? { [BOUNDS]: JSON.stringify(bounds) } : {}

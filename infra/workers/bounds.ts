// What an invocation of a Worker may do, and how the host tells it the Worker that it serves.

/** Of one invocation; what is absent is not bounded. */
export type Bounds = {
  /** Requests that wait for their headers at once; who comes later waits. */
  connections?: number
  /** Requests to other hosts, and those to the vendor's own services. */
  subrequests?: number
  services?: number
  /** Calls of entrypoints of the same Worker, with the first. */
  invocations?: number
  /** Milliseconds that it goes on after its answer. */
  kept?: number
}

/** The variable that tells them; the Worker itself does not see it. */
export const BOUNDS = 'SIDEJOB_INVOCATION_BOUNDS'

/** @example boundsVar({ connections: 6 }) // { SIDEJOB_INVOCATION_BOUNDS: '{"connections":6}' } */
export const boundsVar = (bounds?: Bounds): Record<string, string> =>
  bounds ? { [BOUNDS]: JSON.stringify(bounds) } : {}

export type LaneOptions = {
  /** Maximum runs per claim (default 100). The queue may set a lower number. */
  batch?: number
  /** Maximum concurrent runs (default 100). */
  concurrency?: number
  /** A lane hands over after this many milliseconds of work (default 25,000). Waiting for a call is not work. */
  budget?: number
  /** Lease of a run in milliseconds (default 45,000). */
  lease?: number
  /** If a batch takes at most this many milliseconds (default 100), the next claim takes more packed jobs. */
  short?: number
  /** Time that a lane stays warm after its last run, in milliseconds (default 0: never). */
  warm?: number
  /** A lane hands over after this many requests (default 5,000). Requests of functions do not count. */
  requests?: number
}

// The budget of 25 s is below the response time that each plan allows. A paid invocation may send 10,000 requests: the
// lane uses half of them and leaves half to functions.
export const laneDefaults = {
  batch: 100,
  concurrency: 100,
  budget: 25_000,
  requests: 5_000,
  lease: 45_000,
  short: 100,
  warm: 0,
} as const

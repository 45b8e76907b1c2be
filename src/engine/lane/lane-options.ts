export type LaneOptions = {
  /** Maximum runs per claim. The queue may set a lower number. (Default: 100) */
  batch?: number
  /** Maximum concurrent runs. (Default: 100) */
  concurrency?: number
  /** Milliseconds of work after which a lane hands over. Waiting for a call is not work. (Default: 25,000) */
  budget?: number
  /** Lease of a run, in milliseconds. (Default: 45,000) */
  lease?: number
  /** If a batch ends within this many milliseconds, the next claim takes more packed jobs. (Default: 100) */
  short?: number
  /** Milliseconds that a lane stays warm after its last run; 0 means never. (Default: 0) */
  warm?: number
  /** Number of requests after which a lane hands over. Requests of functions do not count. (Default: 5,000) */
  requests?: number
}

// The budget of 25 s is below every plan's response time. A paid invocation may send 10,000 requests: the lane uses
// half of them and leaves half to functions.
export const laneDefaults = {
  batch: 100,
  concurrency: 100,
  budget: 25_000,
  requests: 5_000,
  lease: 45_000,
  short: 100,
  warm: 0,
} as const

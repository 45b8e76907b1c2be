export type LaneOptions = {
  /** Maximum runs of one claim. The queue may set fewer. (Default: 100) */
  batch?: number
  /** Maximum runs at once. (Default: 100) */
  concurrency?: number
  /** Milliseconds of work after which a lane hands over. Waiting for a call is not work. (Default: 25,000) */
  budget?: number
  /** Milliseconds for which a run is leased. (Default: 45,000) */
  lease?: number
  /** If a batch ends within this many milliseconds, the next claim takes more packed jobs. (Default: 100) */
  short?: number
  /** Milliseconds for which a lane stays warm after its last run; 0: never. (Default: 0) */
  warm?: number
  /** Requests after which a lane hands over, without the requests of functions. (Default: 5,000) */
  requests?: number
}

// The budget of 25 s is below the response time of every plan. A paid invocation may send 10,000 requests: the lane uses half of
// them, functions have the other half.
export const laneDefaults = {
  batch: 100,
  concurrency: 100,
  budget: 25_000,
  requests: 5_000,
  lease: 45_000,
  short: 100,
  warm: 0,
} as const

export type LaneOptions = {
  /** Maximum runs per claim (default 100). The queue may set a lower number. */
  batch?: number
  /** Maximum concurrent runs (default 100). */
  concurrency?: number
  /** Milliseconds of work after which a lane hands over (default 25,000). Waiting is not work. */
  budget?: number
  /** Lease of a run in milliseconds (default 45,000). */
  lease?: number
  /** After a batch of at most this many milliseconds (default 100), the next claim takes more jobs. */
  short?: number
  /** Milliseconds for which a lane waits for more jobs after its last run (default 0). */
  warm?: number
  /** Requests after which a lane hands over (default 5,000). Requests that functions make are not counted. */
  requests?: number
}

// Every plan of QStash waits longer than 25 s. Functions get half of the 10,000 requests of a paid invocation.
export const laneDefaults = {
  batch: 100,
  concurrency: 100,
  budget: 25_000,
  requests: 5_000,
  lease: 45_000,
  short: 100,
  warm: 0,
} as const

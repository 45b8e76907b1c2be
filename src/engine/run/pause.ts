// What ends a run in the middle of its function.

/** What one helper waits for before its function can go on. */
export type Pause = { until?: number; child?: string }

// Ends of runs in the middle of a function.

export type Pause = { until?: number; child?: string }

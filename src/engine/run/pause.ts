export type Pause = { until?: number; child?: string }

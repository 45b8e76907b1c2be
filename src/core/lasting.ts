// After a failover Redis may be a few seconds older than names outside, and reuse their ids.

/** The creation time differs for a reused id. */
export const lastingName = ({ id, createdAt }: { id: number; createdAt: number }): string =>
  `${id}-${createdAt.toString(36)}`

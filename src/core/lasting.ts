// After a failover, Redis may reuse the ids of the last few seconds, but other systems may have stored these ids. So a
// name for other systems also contains the time.

export const lastingName = ({ id, createdAt }: { id: number; createdAt: number }): string =>
  `${id}-${createdAt.toString(36)}`

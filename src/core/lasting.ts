// After a failover, Redis may reuse the ids of the last few seconds. Other systems may have stored these ids, so they
// get a name that also contains the time.

export const lastingName = ({ id, createdAt }: { id: number; createdAt: number }): string =>
  `${id}-${createdAt.toString(36)}`

// After a failover, Redis may have lost the last few seconds and may reuse ids that other systems have already stored.

/** Contains the creation time, which differs if an id is reused. */
export const lastingName = ({ id, createdAt }: { id: number; createdAt: number }): string =>
  `${id}-${createdAt.toString(36)}`

// After a failover, Redis may have lost the last few seconds and may reuse ids that other systems have already stored.

export const lastingName = ({ id, createdAt }: { id: number; createdAt: number }): string =>
  `${id}-${createdAt.toString(36)}`

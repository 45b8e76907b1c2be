// After a failover, Redis may reuse the ids of the last few seconds, which other systems may have stored.

export const lastingName = ({ id, createdAt }: { id: number; createdAt: number }): string =>
  `${id}-${createdAt.toString(36)}`

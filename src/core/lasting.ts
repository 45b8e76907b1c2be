// After a failover, Redis may be a few seconds older than names in other systems, and may reuse the ids in them.

/** If an id is reused, its creation time differs. */
export const lastingName = ({ id, createdAt }: { id: number; createdAt: number }): string =>
  `${id}-${createdAt.toString(36)}`

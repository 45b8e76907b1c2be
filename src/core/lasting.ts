// Names of jobs for systems outside. After a failover Redis may be a few seconds older than these names, and reuse
// their ids.

/**
 * The creation time differs for a reused id.
 *
 * @example lastingName({ id: 7, createdAt: 1795318800000 }) // '7-mwragjuo'
 */
export const lastingName = ({ id, createdAt }: { id: number; createdAt: number }): string =>
  `${id}-${createdAt.toString(36)}`

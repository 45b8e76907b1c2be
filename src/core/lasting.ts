// Names that leave us. After a failover Redis may be a few seconds older than names we have handed out, and reuse their
// ids; systems outside must not confuse the new job with the old one.

/**
 * External name of a job: its id and its creation time, which differs for a reused id.
 *
 * @example lastingName({ id: 7, createdAt: 1795318800000 }) // '7-mwragjuo'
 */
export const lastingName = ({ id, createdAt }: { id: number; createdAt: number }): string =>
  `${id}-${createdAt.toString(36)}`

// External names of jobs. After a failover Redis may be a few seconds older and reuse ids that other systems already
// have; they must not confuse the new job with the old one.

/**
 * External name of a job: its id and its creation time, which differs for a reused id.
 *
 * @example lastingName({ id: 7, createdAt: 1795318800000 }) // '7-mwragjuo'
 */
export const lastingName = ({ id, createdAt }: { id: number; createdAt: number }): string =>
  `${id}-${createdAt.toString(36)}`

// Names that leave us. After a failover Redis may be some seconds older than what we have told others, and gives ids again;
// what is outside must not take the new job for the one that it knows.

/**
 * What a job is called outside: its id, and when it was made, which a job of the same id was not.
 *
 * @example lastingName({ id: 7, createdAt: 1795318800000 }) // '7-mwragjuo'
 */
export const lastingName = ({ id, createdAt }: { id: number; createdAt: number }): string =>
  `${id}-${createdAt.toString(36)}`

// The numbers of what is allowed, in one place.

/** At the door, counted in each isolate. */
export const doors = {
  /** Of one API key that says nothing else; so many at once are double of it. */
  requests: { rate: 1_000, burst: 2_000 },
  /** From one address. */
  wrongKeys: { rate: 0.5, burst: 30 },
  /** How many keys and addresses are counted. */
  remembered: 10_000,
  /** Bytes of a body that QStash signs. */
  signedBody: 65_536,
  /** How long a stream lives, and how often it is asked whether its key still is one: milliseconds. */
  stream: { life: 3_600_000, beat: 15_000 },
} as const

// Values of fields that encode a state, for TypeScript and Lua: Lua has `PLACE.leased`, and the build writes 'l'.

/** `place` of a job: the index that has it. Absent means ready. */
export const PLACE = {
  new: 'new',
  pull: 'p',
  timers: 't',
  leased: 'l',
  limited: 'w',
  suspended: 's',
  completed: 'c',
  failed: 'f',
  terminated: 'T',
} as const

/** `terminating` of a job. */
export const TERMINATING = { asked: '1', shutdown: '2' } as const

/** `uniqueHeld` of a job. Absent means until it ends. */
export const UNIQUE_HELD = { untilDeleted: '1', untilStarted: 's', debounced: 'b' } as const

/** `followedAs` of a job: its state for the parent that follows it. */
export const FOLLOWED_AS = { busy: 'b', suspended: 's', completed: 'c', broken: 'x' } as const

export const marks: Record<string, Readonly<Record<string, string>>> = { PLACE, TERMINATING, UNIQUE_HELD, FOLLOWED_AS }

// In Lua scripts, the build replaces `PLACE.leased` with 'l'.

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

export const AT_REST = {
  [PLACE.suspended]: 'suspended',
  [PLACE.completed]: 'completed',
  [PLACE.failed]: 'failed',
  [PLACE.terminated]: 'terminated',
} as const

export const TERMINATING = { asked: '1', shutdown: '2' } as const

export const UNIQUE_HELD = { untilDeleted: '1', untilStarted: 's', debounced: 'b' } as const

export const FOLLOWED_AS = { busy: 'b', suspended: 's', completed: 'c', broken: 'x' } as const

export const marks: Record<string, Readonly<Record<string, string>>> = { PLACE, TERMINATING, UNIQUE_HELD, FOLLOWED_AS }

import { DAY } from './units.ts'

export const RETRY = 'retry:'
export type RetryKey = `${typeof RETRY}${string}`
/** In milliseconds. */
export const RETRY_FOR = 600_000

export const HOOK = 'hook:'
/** Services resend an event for several days. */
export const HOOK_FOR = 7 * DAY

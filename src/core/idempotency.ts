import { DAY } from './units.ts'

export const RETRY_PREFIX = 'retry:'
export type RetryKey = `${typeof RETRY_PREFIX}${string}`
/** In milliseconds. */
export const RETRY_KEPT_MS = 600_000

export const HOOK_PREFIX = 'hook:'
/** Services resend an event for several days. */
export const HOOK_KEPT_MS = 7 * DAY

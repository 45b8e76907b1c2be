export const RETRY = 'retry:'
export type RetryKey = `${typeof RETRY}${string}`
/** Milliseconds. */
export const RETRY_FOR = 600_000

export const HOOK = 'hook:'
/** Milliseconds. Services resend an event for some days. */
export const HOOK_FOR = 7 * 86_400_000

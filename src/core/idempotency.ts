export const RETRY = 'retry:'
export type RetryKey = `${typeof RETRY}${string}`
/** Retention of the answers to automatic retries of clients, in milliseconds. */
export const RETRY_FOR = 600_000

export const HOOK = 'hook:'
/** Milliseconds. Services resend a webhook event for several days. */
export const HOOK_FOR = 7 * 86_400_000

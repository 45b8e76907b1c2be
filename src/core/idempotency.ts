// Idempotency keys: a caller's key makes an operation happen once, at any later time; a client's key covers its own
// retries after a lost answer.

/** Prefix of keys that clients create for their own retries. */
export const RETRY = 'retry:'
export type RetryKey = `${typeof RETRY}${string}`
/** Milliseconds for which their answers are stored. */
export const RETRY_FOR = 600_000

export const HOOK = 'hook:'
/** Milliseconds. Services resend an event for some days. */
export const HOOK_FOR = 7 * 86_400_000

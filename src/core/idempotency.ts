// Idempotency keys: a caller's key makes an operation happen once, at any later time; a client's key covers its own
// retries after a lost answer.

/** Prefix of keys that a client creates for its own retries. */
export const RETRY = 'retry:'
export type RetryKey = `${typeof RETRY}${string}`
/** Milliseconds within which such repeats come: the answer is kept for no longer. */
export const RETRY_FOR = 600_000

/** Prefix of the keys of webhook events. */
export const HOOK = 'hook:'
/** Milliseconds that the answer to a webhook event is kept: services resend an event for some days. */
export const HOOK_FOR = 7 * 86_400_000

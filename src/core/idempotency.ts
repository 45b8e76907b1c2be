// Keys that make asking twice safe: a caller's own say that one thing is to happen once, however late it is asked for again;
// a client's are for its own repeats after an answer that never came.

/** How a key begins that a client has made for its own repeats. */
export const RETRY = 'retry:'
export type RetryKey = `${typeof RETRY}${string}`
/** Milliseconds within which such repeats come: the answer is kept for no longer. */
export const RETRY_FOR = 600_000

/** Prefix of the keys of webhook events. */
export const HOOK = 'hook:'
/** Milliseconds that the answer to a webhook event is kept: services resend an event for some days. */
export const HOOK_FOR = 7 * 86_400_000

/** Renewals per lease, so that one failed renewal does no harm. */
const RENEWALS = 3
/** In milliseconds. A job that a warm lane received in a call has a short lease, so its first renewal is early. */
const FIRST_RENEWAL_MS = 6_000

export function createRenewals(lease: number, renew: () => void) {
  const regular = setInterval(renew, lease / RENEWALS)
  let first: ReturnType<typeof setTimeout> | undefined
  const once = () => {
    first = undefined
    renew()
  }
  return {
    soon: () => void (first ??= setTimeout(once, FIRST_RENEWAL_MS)),
    end(): void {
      clearInterval(regular)
      clearTimeout(first)
    },
  }
}

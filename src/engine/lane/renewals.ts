/** A lease is renewed after a third of it, so that two renewals may fail. */
const RENEWALS = 3
/** Milliseconds. A job that comes with a call is leased for as long as a bell may take. */
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

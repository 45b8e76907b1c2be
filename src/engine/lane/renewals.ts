/** A lease is renewed after a third of its time, so that two renewals may fail. */
const RENEWALS = 3
/** Milliseconds. A job that is leased by a call has a lease as long as a bell may take. */
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

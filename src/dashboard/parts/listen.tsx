// Channels that refresh the open page.

/** Channels that the page listens to; `of`: of the log, only what these jobs write. */
export function Listen({ to, of }: { to: readonly string[]; of?: readonly number[] }) {
  return <i hidden data-listen={to.join(' ')} data-of={of?.join(' ')} />
}

/** Only pages with a tail listen to the log, because runs then publish their reads and writes too. */
export const LOG = '/sidejob/log'

/** `of`: of the log, only lines of these jobs. */
export function Listen({ to, of }: { to: readonly string[]; of?: readonly number[] }) {
  return <i hidden data-listen={to.join(' ')} data-of={of?.join(' ')} />
}

/** Only for pages with a tail: runs then publish their reads and writes too. */
export const LOG = '/sidejob/log'

// What a page listens to while it is open: what is said there has it looked at again.

/**
 * Channels that the page listens to; `of`: of the log, only what these jobs write; `beside`: not all that is shown is told
 * there, so the page is looked at as often as if it did not listen.
 *
 * @example <Listen to={['/sidejob/job/7']} />
 */
export function Listen({ to, of, beside }: { to: readonly string[]; of?: readonly number[]; beside?: true }) {
  return <i hidden data-listen={to.join(' ')} data-of={of?.join(' ')} data-beside={beside && ''} />
}

/** The log as it is written: listened to by who asks for it, for then reads and writes of all runs are told as well. */
export const LOG = '/sidejob/log'

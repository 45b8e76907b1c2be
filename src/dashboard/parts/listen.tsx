export function Listen({ to, of }: { to: readonly string[]; of?: readonly number[] }) {
  return <i hidden data-listen={to.join(' ')} data-of={of?.join(' ')} />
}

/** Listen to this channel only while a page shows a tail: runs then publish all their reads and writes. */
export const LOG = '/sidejob/log'

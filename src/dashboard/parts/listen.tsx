export function Listen({ to, of }: { to: readonly string[]; of?: readonly number[] }) {
  return <i hidden data-listen={to.join(' ')} data-of={of?.join(' ')} />
}

/** Only for pages that show a tail, because runs then also publish their reads and writes. */
export const LOG = '/sidejob/log'

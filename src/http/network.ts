const GROUPS = 8
const NETWORK_GROUPS = 4

/** One caller usually has a whole IPv6 /64 network. */
export function networkOf(address: string): string {
  const text = address.trim().toLowerCase()
  const mapped = /^::ffff:(\d+(?:\.\d+){3})$/.exec(text)?.[1]
  if (mapped) return mapped
  if (!text.includes(':')) return text
  const [before = '', after] = text.split('::', 2) as [string, string?]
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'))
  const [start, end] = [groups(before), groups(after ?? '')]
  const missing = after === undefined ? 0 : Math.max(0, GROUPS - start.length - end.length)
  const all = [...start, ...Array<string>(missing).fill('0'), ...end]
  return all
    .slice(0, NETWORK_GROUPS)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')
}

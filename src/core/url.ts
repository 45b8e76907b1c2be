// Which addresses we call: http and https, and nothing inside our own network unless it is allowed by name.

import { SidejobError } from './errors.ts'

// The URL parser has already turned every odd spelling of an IPv4 address (hex, octal, one number) into four numbers.
const privateV4: readonly [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
]

const v4Number = (address: string): number => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)

const inRange = (address: number, [base, bits]: readonly [string, number]): boolean =>
  Math.floor(address / 2 ** (32 - bits)) === Math.floor(v4Number(base) / 2 ** (32 - bits))

const isPrivateV4 = (address: string): boolean => privateV4.some((range) => inRange(v4Number(address), range))

/** The eight groups of an IPv6 address in the parser's spelling. */
function v6Groups(address: string): number[] {
  const [head = '', tail] = address.split('::') as [string, string?]
  const groups = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
  if (tail === undefined) return groups(head)
  const [first, last] = [groups(head), groups(tail)]
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last]
}

/** Loopback, local, mapped and translated addresses: everything but global unicast that holds no private IPv4. */
function isPrivateV6(address: string): boolean {
  const [a = 0, b = 0, , , , , g = 0, h = 0] = v6Groups(address)
  const inner = (high: number, low: number): string => [high >> 8, high & 255, low >> 8, low & 255].join('.')
  if (a === 0x2002) return isPrivateV4(inner(b, v6Groups(address)[2]!))
  if (a === 0x64 && b === 0xff9b) return isPrivateV4(inner(g, h))
  if (a === 0x2001 && (b === 0 || b === 0xdb8)) return true
  return a < 0x2000 || a >= 0x4000
}

const localNames = /(^|\.)(localhost|local|internal|intranet|lan|home|corp)\.?$/

const isPrivateHost = (host: string): boolean => {
  if (host.startsWith('[')) return isPrivateV6(host.slice(1, -1))
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) return isPrivateV4(host)
  return localNames.test(host) || !host.includes('.')
}

/**
 * The address as a URL, if we may call it.
 *
 * @example callable('https://example.com/hook', [])
 */
export function callable(address: string, allowHosts: readonly string[]): URL {
  if (!URL.canParse(address)) throw new SidejobError('BAD_REQUEST', `expected a URL, got ${address.slice(0, 100)}`)
  const url = new URL(address)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new SidejobError('BAD_REQUEST', `expected a URL that begins with http:// or https://, got ${url.protocol}`)
  if (url.username || url.password) throw new SidejobError('BAD_REQUEST', 'expected a URL without user and password')
  const host = url.hostname.toLowerCase()
  if (isPrivateHost(host) && !allowHosts.includes(host))
    throw new SidejobError('REFUSED', `${host} is inside our own network; SIDEJOB_ALLOW_HOSTS can allow it`)
  return url
}

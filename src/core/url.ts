import { SidejobError } from './errors.ts'

// The URL parser has already converted hexadecimal and octal addresses.
const privateV4: readonly [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
]

const v4Number = (address: string): number => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)

const inRange = (address: number, [base, bits]: readonly [string, number]): boolean =>
  Math.floor(address / 2 ** (32 - bits)) === Math.floor(v4Number(base) / 2 ** (32 - bits))

const isPrivateV4 = (address: string): boolean => privateV4.some((range) => inRange(v4Number(address), range))

function v6Groups(address: string): number[] {
  const [head = '', tail] = address.split('::') as [string, string?]
  const groups = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
  if (tail === undefined) return groups(head)
  const [first, last] = [groups(head), groups(tail)]
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last]
}

const dotted = (high: number, low: number): string => [high >> 8, high & 255, low >> 8, low & 255].join('.')

const special: readonly [(groups: number[]) => boolean, (groups: number[]) => boolean][] = [
  // 6to4 and NAT64 (well-known prefix) contain an IPv4 address.
  [([a]) => a === 0x2002, ([, b, c]) => isPrivateV4(dotted(b!, c!))],
  [([a, b, c]) => a === 0x64 && b === 0xff9b && c === 0, (groups) => isPrivateV4(dotted(groups[6]!, groups[7]!))],
  // ISATAP.
  [(groups) => (groups[4]! & 0xfdff) === 0 && groups[5] === 0x5efe, (g) => isPrivateV4(dotted(g[6]!, g[7]!))],
  // Teredo, benchmark, ORCHID and documentation addresses.
  [([a, b]) => a === 0x2001 && (b! < 0x200 || b === 0xdb8), () => true],
  [([a, b]) => a === 0x3fff && b! < 0x1000, () => true],
]

function isPrivateV6(address: string): boolean {
  const groups = v6Groups(address)
  const found = special.find(([is]) => is(groups))
  return found ? found[1](groups) : groups[0]! < 0x2000 || groups[0]! >= 0x4000
}

const localNames =
  /(^|\.)(localhost|localdomain|local|internal|intranet|private|lan|home|corp|svc|consul|home\.arpa|in-addr\.arpa|ip6\.arpa)\.?$/

// An incomplete list is safe, because a deployed Worker cannot reach a private network.
const loopbackNames = /(^|\.)(localtest\.me|lvh\.me|vcap\.me|lacolhost\.com|yoogle\.com|localho\.st)\.?$/
const addressNames = /(^|\.)(nip\.io|sslip\.io|xip\.io|traefik\.me|ip\.addr\.tools)\.?$/

const saysPrivate = (host: string): boolean => {
  if (loopbackNames.test(host)) return true
  if (!addressNames.test(host)) return false
  const [address] = host.match(/\d{1,3}([.-])\d{1,3}\1\d{1,3}\1\d{1,3}/) ?? []
  return !address || isPrivateV4(address.replaceAll('-', '.'))
}

const isPrivateHost = (host: string): boolean => {
  if (host.startsWith('[')) return isPrivateV6(host.slice(1, -1))
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) return isPrivateV4(host)
  return localNames.test(host) || saysPrivate(host) || !host.replace(/\.$/, '').includes('.')
}

export type Use = 'workers' | 'callbacks' | 'downloads'

/** An entry is `host` or `host:port`, or allows one use: `downloads=host:port`. */
function isAllowed(entry: string, { hostname, port, protocol }: URL, use: Use): boolean {
  const [for_, place] = entry.includes('=') ? (entry.split('=', 2) as [string, string]) : [use, entry]
  const host = hostname.toLowerCase()
  const wanted = place.toLowerCase()
  return for_ === use && (wanted === host || wanted === `${host}:${port || (protocol === 'https:' ? 443 : 80)}`)
}

export function callable(address: string, allowHosts: readonly string[], use: Use): URL {
  if (!URL.canParse(address)) throw new SidejobError('BAD_REQUEST', `expected a URL, got ${address.slice(0, 100)}`)
  const url = new URL(address)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new SidejobError('BAD_REQUEST', `expected a URL that begins with http:// or https://, got ${url.protocol}`)
  if (url.username || url.password)
    throw new SidejobError('BAD_REQUEST', 'expected a URL without a username or password')
  const host = url.hostname.toLowerCase()
  if (isPrivateHost(host) && !allowHosts.some((entry) => isAllowed(entry, url, use)))
    throw new SidejobError(
      'REFUSED',
      `${url.host} is in a private network; to allow it, add ${use}=${url.host} to SIDEJOB_ALLOW_HOSTS`,
    )
  return url
}

/** True for addresses of this machine. */
export const isLocal = (url: string): boolean =>
  /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)

/** Hides the value, because it may be a secret. */
export const secretFault = (setting: string, expected: string, { length }: string): SidejobError =>
  new SidejobError('MISCONFIGURED', `${setting}: expected ${expected}, got another value of ${length} characters`)

export const isHttp = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? '')

export function addressIn(setting: string, text: string): string {
  if (isHttp(text)) return text
  throw secretFault(setting, 'an address that begins with https:// or http://', text)
}

/** Removes the query and the password, because they may be secret. */
export const shownUrl = (url: string): string => {
  const { origin, pathname, search } = new URL(url)
  return `${origin}${pathname}${search && '?[redacted]'}`
}

import { describe, expect, test } from 'vitest'
import { SidejobError } from '../../src/core/errors.ts'
import { callable } from '../../src/core/url.ts'

const codeOf = (address: string, allow: string[] = []): string => {
  try {
    return callable(address, allow, 'downloads').href
  } catch (error) {
    if (error instanceof SidejobError) return error.code
    throw error
  }
}

describe('refused', () => {
  test.each([
    ['loopback', 'http://127.0.0.1/'],
    ['loopback, anywhere in its range', 'http://127.8.9.10:8080/x'],
    ['loopback in short', 'http://127.1/'],
    ['loopback as one number', 'http://2130706433/'],
    ['loopback in hex', 'http://0x7f000001/'],
    ['loopback in hex parts', 'http://0x7f.0x0.0x0.0x1/'],
    ['loopback in octal', 'http://0177.0.0.1/'],
    ['loopback with a dot behind it', 'http://127.0.0.1./'],
    ['loopback in wide digits', 'http://１２７.０.０.１/'],
    ['loopback in circled digits', 'http://①②⑦.⓪.⓪.①/'],
    ['loopback, percent-encoded', 'http://%31%32%37.0.0.1/'],
    ['loopback with ideographic full stops', 'http://127。0。0。1/'],
    ['loopback with a port and a fragment', 'http://127.0.0.1:80#@example.com/'],
    ['this network', 'http://0.0.0.0/'],
    ['this network in short', 'http://0/'],
    ['private, class A', 'http://10.255.255.255/'],
    ['private, class B', 'http://172.31.0.1/'],
    ['private, class C', 'https://192.168.1.1/admin'],
    ['carrier NAT, and a metadata service', 'http://100.100.100.200/latest'],
    ['link-local: the metadata service', 'http://169.254.169.254/latest/meta-data'],
    ['benchmarks', 'http://198.19.0.1/'],
    ['documentation', 'http://203.0.113.7/'],
    ['multicast', 'http://224.0.0.1/'],
    ['reserved', 'http://250.1.1.1/'],
    ['broadcast', 'http://255.255.255.255/'],
    ['IPv6 loopback', 'http://[::1]/'],
    ['IPv6 loopback at length', 'http://[0:0:0:0:0:0:0:1]:80/'],
    ['IPv6 unspecified', 'http://[::]/'],
    ['IPv4 mapped', 'http://[::ffff:127.0.0.1]/'],
    ['IPv4 mapped in hex', 'http://[::ffff:7f00:1]/'],
    ['IPv4 compatible', 'http://[::127.0.0.1]/'],
    ['IPv4 translated', 'http://[::ffff:0:127.0.0.1]/'],
    ['6to4 of the metadata service', 'http://[2002:a9fe:a9fe::1]/'],
    ['unique local', 'http://[fd00:ec2::254]/latest'],
    ['link-local IPv6', 'http://[fe80::1]/'],
    ['site-local IPv6', 'http://[fec0::1]/'],
    ['multicast IPv6', 'http://[ff02::1]/'],
    ['6to4 of a private one', 'http://[2002:a00:1::]/'],
    ['NAT64 of a private one', 'http://[64:ff9b::10.0.0.1]/'],
    ['NAT64 of a local prefix', 'http://[64:ff9b:1::808:808]/'],
    ['Teredo', 'http://[2001::1]/'],
    ['ISATAP of a private one', 'http://[2606:4700::5efe:10.0.0.1]/'],
    ['documentation IPv6', 'http://[2001:db8::1]/'],
    ['localhost', 'http://localhost:8787/'],
    ['localhost with a dot', 'http://localhost./'],
    ['localhost, in capitals', 'http://LOCALHOST/'],
    ['below localhost', 'http://api.localhost/'],
    ['a name without a dot', 'http://redis:6379/'],
    ['a name of our own network', 'http://db.internal/'],
    ['the metadata service by name', 'http://metadata.google.internal/'],
    ['a service of a cluster', 'http://kubernetes.default.svc/'],
    ['the same at length', 'http://kubernetes.default.svc.cluster.local/'],
    ['a service of a registry', 'http://vault.service.consul/'],
    ['mDNS', 'http://printer.local/'],
    ['a public name for loopback', 'http://anything.localtest.me/'],
    ['a name that says a private address', 'http://10.0.0.1.nip.io/'],
    ['the same with dashes', 'http://app-192-168-1-1.sslip.io/'],
  ])('%s: %s', (_, address) => {
    expect(codeOf(address)).toBe('REFUSED')
  })

  test.each([
    ['another scheme', 'ftp://example.com/'],
    ['a file', 'file:///etc/passwd'],
    ['data', 'data:text/plain,x'],
    ['gopher', 'gopher://example.com/'],
    ['a user', 'https://me@example.com/'],
    ['a user that looks like a host', 'https://example.com:pass@10.0.0.1/'],
    ['no address', '/path'],
    ['nothing', ''],
    ['an address of five parts', 'http://1.2.3.4.5/'],
    ['a number too large', 'http://256.0.0.1/'],
    ['an IPv6 address with a zone', 'http://[fe80::1%25eth0]/'],
  ])('%s is none: %s', (_, address) => {
    expect(codeOf(address)).toBe('BAD_REQUEST')
  })
})

describe('called', () => {
  test.each([
    'https://example.com/hook?x=1',
    'http://93.184.216.34/',
    'http://[2606:4700::1111]/',
    'http://[64:ff9b::8.8.8.8]/',
    'http://172.32.0.1/',
    'http://100.128.0.1/',
    'https://8.8.8.8.nip.io/',
    'https://localhost.example.com/',
    'https://internal.example.com/',
  ])('%s', (address) => {
    expect(codeOf(address)).toMatch(/^http/)
  })

  test('an inner host that is allowed by its name, and only that', () => {
    expect(codeOf('http://127.0.0.1:8787/', ['127.0.0.1'])).toMatch(/^http/)
    expect(codeOf('http://0x7f.1/', ['127.0.0.1'])).toMatch(/^http/)
    expect(codeOf('http://localhost/', ['127.0.0.1'])).toBe('REFUSED')
    expect(codeOf('http://[::1]/', ['[::1]'])).toMatch(/^http/)
  })

  test('an inner host can be allowed at one port, and for one use', () => {
    const allowed = (address: string, use: 'workers' | 'downloads', ...list: string[]) => {
      try {
        return callable(address, list, use).port
      } catch (error) {
        return (error as { code: string }).code
      }
    }
    expect(allowed('http://10.0.0.1:8080/', 'workers', '10.0.0.1:8080')).toBe('8080')
    expect(allowed('http://10.0.0.1:8081/', 'workers', '10.0.0.1:8080')).toBe('REFUSED')
    expect(allowed('https://10.0.0.1/', 'workers', '10.0.0.1:443')).toBe('')
    expect(allowed('http://10.0.0.1:8080/', 'workers', 'workers=10.0.0.1:8080')).toBe('8080')
    expect(allowed('http://10.0.0.1:8080/', 'downloads', 'workers=10.0.0.1:8080')).toBe('REFUSED')
    expect(allowed('http://[::1]:99/', 'downloads', 'downloads=[::1]:99')).toBe('99')
  })

  test('the error names the refused address, and how to allow it', () => {
    expect(() => callable('http://10.0.0.1/secret', [], 'downloads')).toThrow(
      '10.0.0.1 is in a private network; to allow it, add downloads=10.0.0.1 to SIDEJOB_ALLOW_HOSTS',
    )
  })
})

import { expect, test } from 'vitest'
import { networkOf } from '../../src/http/network.ts'

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['2001:0DB8:0000:0001:0002::', '2001:db8:0:1'],
  ['2001:db8:0:1:ffff:ffff:ffff:ffff', '2001:db8:0:1'],
  ['::1', '0:0:0:0'],
  ['fe80::', 'fe80:0:0:0'],
  ['nonsense', 'nonsense'],
])('%s is in %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})

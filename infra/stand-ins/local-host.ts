// Refuses requests with a foreign Host header, because a website can point its domain to 127.0.0.1 (DNS rebinding).

import type { IncomingMessage } from 'node:http'

const LOCAL = new Set(['localhost', '127.0.0.1', '[::1]', '0.0.0.0'])

export function refusedHost({ headers: { host = '' } }: IncomingMessage): string | undefined {
  const name = host.replace(/:\d+$/, '').toLowerCase()
  if (LOCAL.has(name) || name.endsWith('.localhost')) return undefined
  return `expected a request to localhost, got ${name.slice(0, 100)}`
}

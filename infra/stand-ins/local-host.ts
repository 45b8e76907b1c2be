import type { IncomingMessage } from 'node:http'
import { isLocal } from '../../src/dev/invocation/local-host.ts'

export function refusedHost({ headers: { host = '' } }: IncomingMessage): string | undefined {
  const name = host.replace(/:\d+$/, '').toLowerCase()
  return isLocal(name) ? undefined : `expected a request to localhost, got ${name.slice(0, 100)}`
}

import { callable, type Job } from '../../src/index.ts'
import type { Args, Resources } from './args.ts'
import { causeOf, fail, TLS } from './failure.ts'

const MAX_REDIRECTS = 5
const PLAIN = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'sidejob' }
const redirects = new Set([301, 302, 303, 307, 308])

export function guarded(url: string, allowHosts: readonly string[]): URL {
  try {
    return callable(url, allowHosts, 'downloads')
  } catch (error) {
    return fail(
      { phase: 'performing request', cause: (error as Error).message, code: 'REFUSED', retriable: false },
      error,
    )
  }
}

export const drop = (response: Response) => response.body?.cancel().catch(() => undefined)

/** Sends the caller's headers only to the origin of the first URL, so that a redirect cannot steal them. */
export async function request(
  url: string,
  given: Headers,
  { fetch = globalThis.fetch, allowHosts }: Resources,
  job: Job,
) {
  let target = guarded(url, allowHosts)
  let headers = given
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const response = await ask(fetch, target, headers, job.signal)
    const to = redirects.has(response.status) ? response.headers.get('location') : null
    if (to === null || !URL.canParse(to, target)) return { response, url: target.href }
    await drop(response)
    const next = guarded(new URL(to, target).href, allowHosts)
    if (next.origin !== target.origin) headers = new Headers(PLAIN)
    target = next
  }
  const cause = `stopped after ${MAX_REDIRECTS} redirects`
  return fail({ phase: 'performing request', cause, code: 'REDIRECTS', retriable: false })
}

async function ask(fetch: typeof globalThis.fetch, url: URL, headers: Headers, signal: AbortSignal) {
  try {
    return await fetch(url, { headers, redirect: 'manual', signal })
  } catch (error) {
    const { message, code } = causeOf(error)
    const tls = TLS.test(code)
    return fail({ phase: 'performing request', cause: message, code: tls ? 'TLS' : 'NETWORK', retriable: !tls }, error)
  }
}

export const headersFor = ({ headers }: Args, known: { etag?: string; lastModified?: string } | undefined): Headers => {
  const made = new Headers(PLAIN)
  for (const [name, value] of Object.entries(headers ?? {})) made.set(name, value)
  if (known?.etag) made.set('if-none-match', known.etag)
  else if (known?.lastModified) made.set('if-modified-since', known.lastModified)
  return made
}

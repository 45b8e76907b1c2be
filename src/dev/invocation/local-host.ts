// A page in a browser may give its own name the address 127.0.0.1 and then ask the stack on your machine, whose key is
// known. Such a request says that name: it is refused.

const LOCAL = new Set(['localhost', '127.0.0.1', '[::1]', '0.0.0.0'])

/**
 * The answer to a request that came under a name that is not this machine's, nor that of `PUBLIC_URL`; undefined for others.
 *
 * @example refusedHost(new Request('http://rebound.example/v1/jobs'), {})?.status // 403
 */
export function refusedHost({ url }: Request, env: { PUBLIC_URL?: string }): Response | undefined {
  const { hostname } = new URL(url)
  const own = env.PUBLIC_URL && new URL(env.PUBLIC_URL).hostname
  if (LOCAL.has(hostname) || hostname.endsWith('.localhost') || hostname === own) return undefined
  const message = `expected a request to localhost, or to the host of PUBLIC_URL, got ${hostname}`
  return Response.json({ error: { code: 'FORBIDDEN', message } }, { status: 403 })
}

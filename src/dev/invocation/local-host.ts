// Protects against DNS rebinding: a website can point its domain to 127.0.0.1, but its requests keep that domain as
// host.

const LOCAL = new Set(['localhost', '127.0.0.1', '[::1]', '0.0.0.0'])

export function refusedHost({ url }: Request, env: { PUBLIC_URL?: string }): Response | undefined {
  const { hostname } = new URL(url)
  const own = env.PUBLIC_URL && new URL(env.PUBLIC_URL).hostname
  if (LOCAL.has(hostname) || hostname.endsWith('.localhost') || hostname === own) return undefined
  const message = `expected a request to localhost, or to the host of PUBLIC_URL, got ${hostname}`
  return Response.json({ error: { code: 'FORBIDDEN', message } }, { status: 403 })
}

import type { Target } from './target.ts'

const PATIENCE_MS = 10_000

export async function loginLink({ url, key }: Target, path: string): Promise<string | undefined> {
  const answer = await fetch(`${url}/ui/login-links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  const body = (await answer.json().catch(() => ({}))) as { url?: string; error?: { message: string } }
  if (answer.status === 404) return undefined
  if (!body.url) throw new Error(`${answer.status} ${body.error?.message ?? 'no login link'}`)
  return path === '/' ? body.url : `${body.url}&to=${encodeURIComponent(path)}`
}

export async function jobPage({ url }: Target, job: number): Promise<string | undefined> {
  const login = await fetch(`${url}/ui/login`, { signal: AbortSignal.timeout(PATIENCE_MS) }).catch(() => undefined)
  await login?.body?.cancel()
  return login?.ok ? `${url}/ui/jobs/${job}` : undefined
}

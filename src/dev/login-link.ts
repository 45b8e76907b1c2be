import { ApiError } from '../client/index.ts'

const PATIENCE_MS = 10_000

/** Undefined if the Worker has no dashboard. */
export async function loginLink({ url, key }: { url: string; key: string }, path = '/'): Promise<string | undefined> {
  const answer = await fetch(`${url}/ui/login-links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  const body = (await answer.json().catch(() => ({}))) as { url?: string; error?: object }
  if (answer.status === 404) return undefined
  if (!body.url) throw new ApiError(answer.status, { code: 'UNKNOWN', message: 'no login link', ...body.error })
  return path === '/' ? body.url : `${body.url}&to=${encodeURIComponent(path)}`
}

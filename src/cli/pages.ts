import type { Target } from './target.ts'

const PATIENCE_MS = 10_000

export async function jobPage({ url }: Target, job: number): Promise<string | undefined> {
  const login = await fetch(`${url}/ui/login`, { signal: AbortSignal.timeout(PATIENCE_MS) }).catch(() => undefined)
  await login?.body?.cancel()
  return login?.ok ? `${url}/ui/jobs/${job}` : undefined
}

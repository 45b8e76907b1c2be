// Sends a request to the Worker, because mistakes in settings and classes cause errors only in requests.

import { mountOf } from '../deploy/mount.ts'

const PATIENCE_MS = 10_000

const ask = (url: string) => fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) })

export async function probe(origin: string): Promise<string | undefined> {
  const url = `${origin}${await mountOf(origin)}/health`
  const answer = await ask(url).catch((error: Error) => error)
  if (answer instanceof Error) return `GET ${url}: ${answer.message}`
  // `/health` answers 503 if a vendor is down.
  return answer.ok ? undefined : errorIn(await answer.text(), answer.status)
}

/** If a Worker throws, the body is an error stack whose positions are in the bundle. */
function errorIn(body: string, status: number): string | undefined {
  try {
    const { error } = JSON.parse(body) as { error?: { code: string; message: string } }
    if (error) return error.code === 'NOT_FOUND' ? undefined : `${error.code}: ${error.message}`
  } catch {}
  if (status !== 500) return undefined
  return body.split('\n')[0] || 'GET /health: status 500 without a body'
}

import { base, meta, NO_RESPONSE } from '../app/page.ts'

export type Change = {
  applied: boolean
  start: string[]
  adopt: string[]
  stop: { node: string; job: number }[]
  replace: { node: string; job: number }[]
  wires: { added: string[]; removed: string[] }
  orphaned: { node: string | null; job: number; dir: string; port: string; values: number }[]
  unfit?: { wire: string; values: number; of: number; why: string }[]
}

type Failure = { code: string; message: string }

async function post<Answer>(path: string, body: string, headers: Record<string, string> = {}): Promise<Answer> {
  const answer = await fetch(`${base}/v1/flows/${path}`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      'x-csrf': meta('csrf'),
      'idempotency-key': crypto.randomUUID(),
      ...headers,
    },
  })
  return answer.json() as Promise<Answer>
}

export type Tried = { in: unknown; out: Record<string, unknown[]>; note?: string }

export const tryWire = (
  job: number,
  wire: string,
  node: { queue: string; class: string; in: string },
): Promise<{ runs: Tried[]; error?: undefined } | { error: Failure }> =>
  post(`${job}/wires/${encodeURIComponent(wire)}/try`, JSON.stringify(node))

export type Told = { change: Change } | { error: Failure }

export async function putGraph(
  job: number,
  text: string,
  { preview, match, key }: { preview: boolean; match: string | null; key: string },
): Promise<Told> {
  try {
    const told = await post<Change & { error?: Failure }>(`${job}/graph${preview ? '?preview=true' : ''}`, text, {
      'idempotency-key': key,
      ...(match === null ? {} : { 'if-match': `"${match}"` }),
    })
    return told.error ? { error: told.error } : { change: told }
  } catch {
    const message = preview ? 'No response. Change the draft to try again.' : NO_RESPONSE
    return { error: { code: 'UNAVAILABLE', message } }
  }
}

// The API behind the session, as the editor asks it.

import { base, meta } from '../app/page.ts'

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

export async function moveValues(
  job: number,
  wire: string,
  to: string,
): Promise<{ moved: number } | { error: string }> {
  const answer = await fetch(`${base}/v1/flows/${job}/wires/${encodeURIComponent(wire)}/move`, {
    method: 'POST',
    body: JSON.stringify({ to }),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      'x-csrf': meta('csrf'),
      'idempotency-key': crypto.randomUUID(),
    },
  })
  const told = (await answer.json()) as { moved: number; error?: { message: string } }
  return told.error ? { error: told.error.message } : { moved: told.moved }
}

export type Told = { change: Change } | { error: { code: string; message: string } }

/** Sets or previews a graph. Refused if the graph does not match `match`. */
export async function putGraph(
  job: number,
  text: string,
  { preview, match, key }: { preview: boolean; match: string | null; key: string },
): Promise<Told> {
  const answer = await fetch(`${base}/v1/flows/${job}/graph${preview ? '?preview=true' : ''}`, {
    method: 'POST',
    body: text,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      'x-csrf': meta('csrf'),
      'idempotency-key': key,
      ...(match === null ? {} : { 'if-match': `"${match}"` }),
    },
  })
  const told = (await answer.json()) as Change & { error?: { code: string; message: string } }
  return told.error ? { error: told.error } : { change: told }
}

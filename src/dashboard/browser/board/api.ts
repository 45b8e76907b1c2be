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
}

export type Told = { change: Change } | { error: { code: string; message: string } }

/** Puts a graph, or only asks what that would do; refused where another one is in force than `match` stands for. */
export async function putGraph(
  job: number,
  text: string,
  { preview, match, key }: { preview: boolean; match: string | null; key: string },
): Promise<Told> {
  const answer = await fetch(`${base}/v1/flows/${job}/graph${preview ? '?preview=true' : ''}`, {
    method: 'POST',
    body: text,
    headers: {
      ...{ 'content-type': 'application/json', accept: 'application/json', 'x-csrf': meta('csrf') },
      'idempotency-key': key,
      ...(match === null ? {} : { 'if-match': `"${match}"` }),
    },
  })
  const told = (await answer.json()) as Change & { error?: { code: string; message: string } }
  return told.error ? { error: told.error } : { change: told }
}

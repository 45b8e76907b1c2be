import type { GraphChange } from '../../../engine/engine.ts'
import { base, NO_RESPONSE, post } from '../app/page.ts'

type Failure = { code: string; message: string }

async function send<Answer>(path: string, json: string, headers: Record<string, string> = {}): Promise<Answer> {
  const answer = await post(`${base}/v1/flows/${path}`, json, { 'content-type': 'application/json', ...headers })
  return answer.json() as Promise<Answer>
}

export type Tried = { in: unknown; out: Record<string, unknown[]>; note?: string }

export const tryWire = (
  job: number,
  wire: string,
  node: { queue: string; class: string; in: string },
): Promise<{ runs: Tried[]; error?: undefined } | { error: Failure }> =>
  send(`${job}/wires/${encodeURIComponent(wire)}/try`, JSON.stringify(node))

type GraphAnswer = { change: GraphChange } | { error: Failure }

export async function putGraph(
  job: number,
  text: string,
  { preview, match, key }: { preview: boolean; match: string | null; key: string },
): Promise<GraphAnswer> {
  try {
    const reply = await send<GraphChange & { error?: Failure }>(`${job}/graph${preview ? '?preview=true' : ''}`, text, {
      'idempotency-key': key,
      ...(match === null ? {} : { 'if-match': `"${match}"` }),
    })
    return reply.error ? { error: reply.error } : { change: reply }
  } catch {
    const message = preview ? 'No response. Change the draft to try again.' : NO_RESPONSE
    return { error: { code: 'UNAVAILABLE', message } }
  }
}

// A push worker in plain Node that pairs values of `left` with values of `right`.
//
// sidejob sends each snapshot as a POST, and commits all changes of the response or none. See README.md.

import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isFromSidejob } from './webhook.ts'

const secret = process.env.WEBHOOK_SECRET ?? ''
if (secret === '') throw new Error('WEBHOOK_SECRET is not set: forged calls could not be detected')

type Port = { cursor: number; values: { data: unknown }[]; default?: { data: unknown } }
type Snapshot = { job: { class: string }; state: Record<string, unknown>; in: Record<string, Port> }

/** Performs a run of class `zip`: writes all complete pairs, and waits for missing halves. */
function zip({ in: { left, right }, state }: Snapshot) {
  const rights = right!.values.map(({ data }) => data)
  const others = left!.values.map((_, i) => (i < rights.length ? rights[i] : right!.default?.data))
  const pairs = left!.values.map(({ data }, i) => [data, others[i]]).filter(([, other]) => other !== undefined)
  const taken = Math.min(pairs.length, rights.length)
  const isDone = pairs.length === left!.values.length && taken === rights.length
  return {
    end: isDone ? 'completed' : 'suspended',
    reads: {
      left: { cursor: left!.cursor, count: pairs.length },
      right: { cursor: right!.cursor, count: taken },
    },
    state: { set: { pairs: Number(state.pairs ?? 0) + pairs.length } },
    ops: [{ op: 'write', to: { out: 'pair' }, values: pairs }],
  }
}

const classes: Record<string, (snapshot: Snapshot) => unknown> = { zip }

function changesOf(perform: (snapshot: Snapshot) => unknown, snapshot: Snapshot): unknown {
  try {
    return perform(snapshot)
  } catch (error) {
    // The job fails with this error and is retried.
    return { end: 'failed', error: { message: String(error) } }
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function answer(request: IncomingMessage): Promise<{ status: number; value: unknown }> {
  const body = await bodyOf(request)
  if (!isFromSidejob(request.headers, body, secret))
    return { status: 401, value: { error: 'the signature does not match this secret, body and time' } }
  const snapshot = JSON.parse(body.toString()) as Snapshot
  const perform = classes[snapshot.job.class]
  if (!perform) return { status: 404, value: { error: `no class ${snapshot.job.class} here` } }
  return { status: 200, value: changesOf(perform, snapshot) }
}

const server = createServer(async (request, response) => {
  // A caller that disconnects must not end the program.
  const { status, value } = await answer(request).catch((error) => ({ status: 500, value: { error: String(error) } }))
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
})
server.listen(Number(process.env.PORT ?? 8000), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})

import type { Client } from '../../src/client/index.ts'
import type { StackNote } from '../stack.ts'
import { connect, text } from '../stand-ins/resp.ts'

export type Reading = { runs: number; lost: number; trips?: number; billed?: number; messages?: number }

export async function read(client: Client, note?: StackNote): Promise<Reading> {
  const own = await counted(client)
  if (!note) return own
  // The sync token of a response contains the number of requests so far.
  const ping = await fetch(`${note.gateway.url}/ping`, { headers: bearer(note.gateway.token) })
  const trips = Number(ping.headers.get('upstash-sync-token')?.split(':')[1])
  return { ...own, trips, billed: await billed(note), messages: await messages(note) }
}

export function spent(before: Reading, after: Reading): Reading {
  const names = ['runs', 'lost', 'trips', 'billed', 'messages'] as const
  return Object.fromEntries(names.map((name) => [name, difference(after[name], before[name])])) as Reading
}

const difference = (after?: number, before?: number) =>
  after === undefined || before === undefined || Number.isNaN(after - before) ? undefined : after - before

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

async function counted(client: Client) {
  const { today } = (await client.stats.show()) as { today: Record<string, Record<string, number>> }
  const sum = (name: string) => Object.values(today).reduce((all, counts) => all + Number(counts[name] ?? 0), 0)
  return { runs: sum('runs'), lost: sum('lost') }
}

// Upstash does not bill these commands.
const free = new Set(['info', 'client', 'ping', 'script', 'script|load', 'command', 'select', 'auth'])

async function billed({ redis }: StackNote): Promise<number | undefined> {
  if (redis.kind === 'embedded') return undefined
  const connection = await connect(redis)
  const lines = text(await connection.call('INFO', 'commandstats')).matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)
  await connection.close()
  return [...lines].reduce((sum, [, name, calls]) => sum + (free.has(name!) ? 0 : Number(calls)), 0)
}

async function messages({ qstash }: StackNote): Promise<number | undefined> {
  let sum = 0
  let cursor = ''
  do {
    const query = `state=CREATED&count=1000${cursor && `&cursor=${cursor}`}`
    const answer = await fetch(`${qstash.url}/v2/events?${query}`, { headers: bearer(qstash.token) })
    if (!answer.ok) return undefined
    const page = (await answer.json()) as { events: { url: string }[]; cursor?: string }
    sum += page.events.filter(({ url }) => url.includes('/dispatch/')).length
    cursor = page.cursor ?? ''
  } while (cursor)
  return sum
}

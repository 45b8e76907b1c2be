// node examples/etl/run.ts examples/etl/orders.csv

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '../../src/client/index.ts'

const url = process.env.SIDEJOB_URL ?? 'http://127.0.0.1:8787'
const client = createClient({ url, key: process.env.SIDEJOB_API_KEY ?? '' })

const text = readFileSync(process.argv[2] ?? join(import.meta.dirname, 'orders.csv'), 'utf8')
const graph = JSON.parse(readFileSync(join(import.meta.dirname, 'graph.json'), 'utf8'))
await client.graphs.set('orders', graph)
const { id } = (await client.jobs.enqueue({
  queue: 'core',
  class: 'flow',
  args: ['orders'],
  inputs: { text: [text] },
})) as { id: number }

console.error(`its flow: ${url}/ui/flows/${id}`)

for (;;) {
  const { status, error, out } = await client.jobs.get(id)
  if (status === 'failed') throw new Error(JSON.stringify(error))
  if (status === 'completed' && out.totals?.size) break
  await new Promise((resolve) => setTimeout(resolve, 50))
}

const read = async (port: string) =>
  (await client.ports.read(id, 'out', port, { max: 1_000 })).values.map(({ data }) => data)

const [totals] = (await read('totals')) as [{ country: string; orders: number; amount: number }[]]
for (const { country, orders, amount } of totals) console.log(`${country} ${orders} ${amount.toFixed(2)}`)
for (const row of (await read('rejected')) as { id: string; error: string }[])
  console.log(`rejected ${row.id}: ${row.error}`)

// node examples/fibonacci/run.ts 1 2 3 4 5 6 7 8

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '../../src/client/index.ts'

const url = process.env.SIDEJOB_URL ?? 'http://127.0.0.1:8787'
const client = createClient({ url, key: process.env.SIDEJOB_API_KEY ?? '' })

const graph = JSON.parse(readFileSync(join(import.meta.dirname, 'graph.json'), 'utf8'))
const { id } = (await client.jobs.enqueue({ queue: 'core', class: 'flow', args: { graph } })) as { id: number }

console.error(`its flow: ${url}/ui/flows/${id}`)

async function result(): Promise<unknown> {
  for (;;) {
    const { values } = await client.ports.look(id, 'out', 'result').catch(() => ({ values: [] }))
    if (values.length > 0) return (await client.ports.read(id, 'out', 'result', {})).values[0]!.data
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

for (const n of process.argv.slice(2).map(Number)) {
  await client.ports.write(id, 'in', 'n', { value: n })
  console.log(`fibonacci(${n}) = ${await result()}`)
}

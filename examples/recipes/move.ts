// Moves a job that has not started to another queue, with the values at its ports. After a crash, call it again to
// continue.

import type { Client } from '../../src/client/index.ts'

/** Returns the id of the new job. */
export async function moveJob(client: Client, id: number, queue: string): Promise<number> {
  const job = await client.jobs.get(id)
  if (job.status !== 'terminated') {
    // The lock prevents a start. If the job has already started, the call fails with 409.
    await client.jobs.lock(id, { ttl: '1 minute' })
    await client.jobs.cancel(id)
  }
  const ports = Object.entries(job.in).filter(([, { size }]) => size > 0)
  const waiting = await Promise.all(ports.map(([port]) => client.ports.look(id, 'in', port, { limit: 1_000 })))
  const inputs = Object.fromEntries(waiting.map(({ values }, i) => [ports[i]![0], values.map(({ data }) => data)]))
  const { class: name, args, priority, group } = job
  const made = await client.jobs.enqueue(
    { class: name, queue, args, priority, inputs, ...(group ? { group: { id: group } } : {}) },
    { idempotencyKey: `move ${id} to ${queue}` },
  )
  return made.id
}

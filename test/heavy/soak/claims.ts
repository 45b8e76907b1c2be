import { setTimeout as sleep } from 'node:timers/promises'
import { connect, text } from '../../../infra/stand-ins/resp.ts'
import { atMost, defineShow, exactly, quantile, told } from './show.ts'
import { type Soak, startSoak } from './stack.ts'

const QUEUE = 'pull'
const WAIT = 20
const sizes = { waiters: 50, seconds: 30, jobs: 500 }

/** Includes commands in scripts. */
async function billed({ redis }: Soak): Promise<number> {
  const connection = await connect(redis)
  const info = text(await connection.call('INFO', 'commandstats'))
  await connection.close()
  const rows = [...info.matchAll(/^cmdstat_(\S+):calls=(\d+)/gm)].filter(([, name]) => name !== 'info')
  return rows.reduce((sum, [, , calls]) => sum + Number(calls), 0)
}

export const claims = defineShow({
  title: 'claims that wait',
  sizes,
  async run({ waiters, seconds, jobs }) {
    const soak = await startSoak()
    const { client } = soak
    const made = new Map<number, number>()
    const got = new Map<number, number[]>()
    let over = false

    async function work(): Promise<void> {
      while (!over) {
        const claimed = await client.queues.claim(QUEUE, { wait: WAIT })
        const at = performance.now()
        for (const { run, job } of claimed?.runs ?? []) {
          got.set(job.id, [...(got.get(job.id) ?? []), at])
          await client.runs.commit(run.token, { end: 'completed' } as never)
        }
      }
    }

    try {
      await client.queues.patch(QUEUE, { mode: 'pull' } as never)
      const working = Array.from({ length: waiters }, work)
      await sleep(2_000)

      const before = await billed(soak)
      await sleep(seconds * 1_000)
      const idle = (await billed(soak)) - before

      const began = performance.now()
      for (let n = 0; n < jobs; n++) {
        await sleep(Math.max(0, began + (n * seconds * 1_000) / jobs - performance.now()))
        const at = performance.now()
        const { id } = await client.jobs.enqueue({ queue: QUEUE, class: 'x' })
        made.set(id, at)
      }
      for (const end = performance.now() + 10_000; got.size < jobs && performance.now() < end; ) await sleep(20)
      over = true
      await soak.enqueue(Array.from({ length: waiters }, () => ({ queue: QUEUE, class: 'last' })))
      await Promise.all(working)

      const late = [...made].map(([id, at]) => (got.get(id)?.[0] ?? Number.POSITIVE_INFINITY) - at)
      return [
        atMost(`billed commands a second of one of ${waiters} waiters, nothing happening`, idle / waiters / seconds, 1),
        atMost('enqueue to claimed, p99', quantile(late, 0.99), 100, ' ms'),
        told('the same, median', quantile(late, 0.5), ' ms'),
        told('the same, the slowest', Math.max(...late), ' ms'),
        exactly('jobs that were claimed', [...made.keys()].filter((id) => got.get(id)?.length === 1).length, jobs),
        exactly('faults in Redis', await soak.faults(), 0),
      ]
    } finally {
      over = true
      await soak.close()
    }
  },
})

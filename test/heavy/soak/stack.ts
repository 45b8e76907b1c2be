import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type StackOptions, startLocalStack } from '../../../infra/stack.ts'
import { createClient } from '../../../src/client/index.ts'
import { createSidejob } from '../../../src/index.ts'

const QUEUE = 'default'

/** The client makes 15 attempts, because they take longer than a restart of the Worker. */
export async function startSoak(options: Partial<StackOptions> = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'sidejob-soak-'))
  const stack = await startLocalStack({ dir, persist: false, redis: 'server', ...options })
  const client = createClient({ url: stack.url, key: stack.apiKey, attempts: 15 })
  const { gateway, note } = stack
  const { url, token } = note.qstash
  const redis = { url: gateway.url, token: gateway.token }
  const direct = createSidejob({ redis, qstash: { url, token, publicUrl: stack.url } })

  async function counts(queue = QUEUE): Promise<Record<string, number>> {
    const { queues } = await client.queues.list()
    return { ...queues.find(({ name }) => name === queue)?.counts }
  }

  return {
    ...stack,
    client,
    counts,
    faults: async () => (await direct.doctor.verify()).length,
    async enqueue(jobs: object[]): Promise<number[]> {
      const ids: number[] = []
      for (let from = 0; from < jobs.length; from += 1_000) {
        const made = await client.jobs.enqueue(jobs.slice(from, from + 1_000) as never)
        ids.push(...(made as unknown as { jobs: { id: number }[] }).jobs.map(({ id }) => id))
      }
      return ids
    },
    async allCompleted(n: number, { within = 900_000, say = (_: string) => {} } = {}): Promise<void> {
      const end = Date.now() + within
      for (let told = Date.now(); ; ) {
        const now = await counts()
        if ((now.completed ?? 0) >= n) return
        if (Date.now() > end) throw new Error(`not all completed after ${within} ms: ${JSON.stringify(now)}`)
        if (Date.now() - told > 10_000) {
          told = Date.now()
          say(`${now.completed ?? 0} of ${n} completed`)
        }
        await sleep(100)
      }
    },
    async allJobs() {
      type Page = Awaited<ReturnType<typeof client.jobs.list>>
      const jobs: Page['jobs'] = []
      for (let cursor: string | undefined; ; ) {
        const page = await client.jobs.list({ limit: 1_000, ...(cursor ? { cursor } : {}) })
        jobs.push(...page.jobs)
        if (!page.cursor) return jobs
        cursor = page.cursor
      }
    },
    async close() {
      await stack.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

export type Soak = Awaited<ReturnType<typeof startSoak>>

const LANE = /:lane:(.+)$/

export function createCrashes({ gateway, worker }: Soak) {
  const crashes = { lanes: 0, workers: 0 }

  function cutLane(): void {
    let victim: string | undefined
    gateway.faults.lose({
      times: Number.POSITIVE_INFINITY,
      when: (commands) => {
        const words = commands.flat().map(String)
        if (victim) return words.some((word) => word === victim || word.endsWith(`:lane:${victim}`))
        victim = words.map((word) => LANE.exec(word)?.[1]).find((lane) => lane !== undefined)
        if (victim) crashes.lanes++
        return victim !== undefined
      },
    })
  }

  function killWorker(): void {
    if (!worker.pid) return
    process.kill(worker.pid, 'SIGKILL')
    crashes.workers++
  }

  return { crashes, strike: () => (Math.random() < 0.6 ? cutLane() : killWorker()) }
}

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type StackOptions, startLocalStack } from '../../../infra/stack.ts'
import { createClient } from '../../../src/client/index.ts'

export function temporaryFolder() {
  const dir = mkdtempSync(join(tmpdir(), 'sidejob-test-'))
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) }
}

export async function startWorkerd(options: Partial<StackOptions> = {}) {
  const { dir, remove } = temporaryFolder()
  const printed: string[] = []
  const stack = await startLocalStack({
    dir,
    persist: false,
    vars: { SIDEJOB_TEST_CLOCK: '1' },
    say: (line) => line.includes('"sidejob":"audit"') || printed.push(line),
    ...options,
  })
  const client = createClient({ url: stack.url, key: stack.apiKey })
  return {
    stack,
    client,
    printed,
    ask: (path: string, init: RequestInit = {}) =>
      fetch(`${stack.url}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${stack.apiKey}`, ...(init.headers as Record<string, string>) },
      }),
    async reaches(id: number, status: string, ms = 15_000) {
      for (const end = Date.now() + ms; ; ) {
        const job = await client.jobs.get(id)
        if (job.status === status) return job
        if (Date.now() > end) throw new Error(`job ${id} is ${job.status} and not ${status}`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
    async close() {
      await stack.close()
      remove()
    },
  }
}

export type Workerd = Awaited<ReturnType<typeof startWorkerd>>

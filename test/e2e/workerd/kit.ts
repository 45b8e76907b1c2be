// A stack of the test's own: the Worker in workerd as it is deployed, on free ports, with nothing kept.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type StackOptions, startLocalStack } from '../../../infra/stack.ts'
import { createClient } from '../../../src/client/index.ts'

/** A folder that is gone after the test. */
export function temporaryFolder() {
  const dir = mkdtempSync(join(tmpdir(), 'sidejob-test-'))
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) }
}

/**
 * Starts everything, with the clock in the test's hands.
 *
 * @example const { client, stack } = await startWorkerd()
 */
export async function startWorkerd(options: Partial<StackOptions> = {}) {
  const { dir, remove } = temporaryFolder()
  const printed: string[] = []
  const stack = await startLocalStack({
    dir,
    persist: false,
    vars: { SIDEJOB_TEST_CLOCK: '1' },
    // Each act of an admin is a line of the audit.
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
    /** Waits until the job has this status. */
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

// The measured stack from outside: a process of its own, called over HTTP, asked for its counts through a pipe.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Address } from '../../../infra/stand-ins/resp.ts'
import { createClient } from '../../../src/client/index.ts'
import type { Counts } from '../../redis/commandstats.ts'
import type { HostMessage, HostOptions } from './host.ts'
import { KEY, type Lanes } from './served.ts'

/** Waits until a fact is true. */
export async function until(fact: () => Promise<boolean> | boolean, ms = 120_000, every = 5): Promise<void> {
  const end = Date.now() + ms
  while (!(await fact())) {
    if (Date.now() > end) throw new Error(`not true after ${ms} ms: ${fact}`)
    await new Promise((resolve) => setTimeout(resolve, every))
  }
}

/**
 * Everything but Redis, started, and a client for it. Lanes stay warm for `warm`; `eager` lanes start in the request that creates jobs. `flags` are for its process: --cpu-prof shows what the gateway
 * does, and the app too when it runs under node.
 *
 * @example const stack = await startMeasured(redis, { under: 'workerd', far: false }); await stack.client.jobs.enqueue({ class: 'noop' })
 */
export async function startMeasured(
  { host, port }: Address,
  { under, far, warm = '0s', eager = false }: Pick<HostOptions, 'under' | 'far'> & Partial<Lanes>,
  flags: string[] = [],
) {
  const redis = { host, port }
  const process = fork(fileURLToPath(new URL('host.ts', import.meta.url)), { execArgv: flags })
  const heard = async () => (await once(process, 'message'))[0] as HostMessage
  process.send({ redis, under, far, warm, eager } satisfies HostOptions)
  const { url, workerd } = (await heard()) as Extract<HostMessage, { url: string }>
  return {
    redis,
    url,
    until,
    client: createClient({ url, key: KEY }),
    pids: { stack: process.pid!, ...(workerd ? { workerd } : {}) },
    async counts(): Promise<Counts> {
      const answer = heard()
      process.send('counts')
      return ((await answer) as Extract<HostMessage, { counts: Counts }>).counts
    },
    async close() {
      const ended = once(process, 'exit')
      process.disconnect()
      await ended
    },
  }
}

export type Measured = Awaited<ReturnType<typeof startMeasured>>

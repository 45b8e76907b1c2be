import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Address } from '../../../infra/stand-ins/resp.ts'
import { createClient } from '../../../src/client/index.ts'
import type { Counts } from '../../redis/commandstats.ts'
import type { HostMessage, HostOptions } from './host.ts'
import { KEY, type Lanes } from './served.ts'

export async function until(fact: () => Promise<boolean> | boolean, ms = 120_000, every = 5): Promise<void> {
  const end = Date.now() + ms
  while (!(await fact())) {
    if (Date.now() > end) throw new Error(`not true after ${ms} ms: ${fact}`)
    await new Promise((resolve) => setTimeout(resolve, every))
  }
}

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

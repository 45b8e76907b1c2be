// The process of the measured stack, so that its cost can be separated from its caller's.

import type { Counts } from '../../redis/commandstats.ts'
import { type Lanes, startServed } from './served.ts'

export type HostOptions = {
  redis: { host: string; port: number }
  under: 'workerd' | 'node'
  far: boolean
} & Lanes

/** Messages of this process: its address once, and its counts on request. */
export type HostMessage = { url: string; workerd?: number } | { counts: Counts }

const tell = (message: HostMessage) => process.send!(message)

process.once('message', async ({ redis, under, far, ...lanes }: HostOptions) => {
  const served = await startServed(redis, under, lanes)
  if (far) served.moveAway()
  process.on('message', () => tell({ counts: served.counts() }))
  process.once('disconnect', () => served.close().finally(() => process.exit()))
  tell({ url: served.url, workerd: served.workerd })
})

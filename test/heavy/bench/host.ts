import type { Counts } from '../../redis/commandstats.ts'
import { type Lanes, startServed } from './served.ts'

export type HostOptions = {
  redis: { host: string; port: number }
  under: 'workerd' | 'node'
  far: boolean
} & Lanes

export type HostMessage = { url: string; workerd?: number } | { counts: Counts }

const tell = (message: HostMessage) => process.send!(message)

process.once('message', async ({ redis, under, far, ...lanes }: HostOptions) => {
  const served = await startServed(redis, under, lanes)
  if (far) served.moveAway()
  process.on('message', () => tell({ counts: served.counts() }))
  process.once('disconnect', () => served.close().finally(() => process.exit()))
  tell({ url: served.url, workerd: served.workerd })
})

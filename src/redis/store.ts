import { NAMESPACE } from '../core/tenant.ts'
import type { Client } from './client.ts'
import { keysOf } from './keys.ts'
import { calling, highestId, type Parts, redisClock } from './parts.ts'
import { createVault, type Vault } from './vault.ts'
import { createChannels } from './verbs/channels.ts'
import { createCommands } from './verbs/commands.ts'
import { createGlance } from './verbs/glance.ts'
import { createJobs } from './verbs/jobs.ts'
import { createLimits } from './verbs/limits.ts'
import { createOutbox } from './verbs/outbox.ts'
import { createQueues } from './verbs/queues.ts'
import { createReads } from './verbs/reads.ts'
import { createRuns } from './verbs/runs.ts'
import { createStreams } from './verbs/streams.ts'
import { createSystemState } from './verbs/system-state.ts'
import { createUpkeep } from './verbs/upkeep.ts'

export const LANE_MARK = 6

const PACKED_FROM = 10

const randomText = (): string => crypto.randomUUID().replaceAll('-', '').slice(0, 12)

export type StoreOptions = {
  client: Client
  namespace?: string
  /** Milliseconds to add to Redis' clock. */
  clock?: () => number
  random?: () => string
  vault?: Vault
  /** Minimum number of similar jobs to store as pieces (lib/runtime/pieces.lua). A piece reserves 100 ids. */
  packedFrom?: number
  /** Default retention of ended jobs in milliseconds, if there is a history. */
  retain?: number
}

export function createStore({
  client,
  namespace = NAMESPACE,
  clock = () => 0,
  random = randomText,
  vault = createVault(),
  packedFrom = PACKED_FROM,
  retain,
}: StoreOptions) {
  const keys = keysOf(namespace)
  const base = () => {
    const offset = clock()
    return { ns: namespace, clock: offset ? String(offset) : '', seed: random() }
  }
  const markedBy = (lane: string) => ({ seed: `${lane.slice(0, LANE_MARK)}${random().slice(-LANE_MARK)}` })
  const moments = redisClock(() => Date.now() + clock())
  const call = calling(client.evaluate, base)
  const parts: Parts = { client, keys, base, call, markedBy, ids: highestId(), moments, vault, packedFrom, retain }
  const jobs = createJobs(parts)
  return {
    keys,
    vault,
    namespace,
    retain,
    now: moments.now,
    ...jobs,
    ...createRuns(parts, jobs.change),
    ...createOutbox(parts),
    ...createQueues(parts),
    ...createUpkeep(parts),
    ...createReads(parts),
    ...createLimits(parts),
    ...createCommands(parts),
    ...createChannels(parts),
    ...createSystemState(parts),
    ...createStreams(parts),
    ...createGlance(parts),
  }
}

export type Store = ReturnType<typeof createStore>

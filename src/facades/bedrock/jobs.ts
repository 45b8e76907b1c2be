import { hasCode, missing } from '../../core/errors.ts'
import type { DeliveredJob } from '../../engine/engine.ts'
import type { Engine } from '../../engine/index.ts'
import { refusals } from './refusal.ts'

export const QUEUE = 'bedrock'

const pulled = new WeakSet<Engine>()

/** Jobs can have any name, because a pull queue accepts unregistered classes. */
export async function openQueue(engine: Engine): Promise<void> {
  if (pulled.has(engine)) return
  await engine.queues.update(QUEUE, { mode: 'pull' })
  pulled.add(engine)
}

export async function ownedJob(engine: Engine, id: string, otherwise = refusals.noJob()): Promise<DeliveredJob> {
  const found = await engine.deliveries.get(id).catch(missing)
  if (found?.queue !== QUEUE) throw otherwise
  return found
}

const MOST_TRIES = 5

export async function withJob(engine: Engine, id: string, act: (job: DeliveredJob) => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await act(await ownedJob(engine, id))
    } catch (error) {
      const hasChanged = hasCode(error, 'WRONG_STATUS') || hasCode(error, 'CONFLICT')
      if (!hasChanged || tries === MOST_TRIES) throw error
    }
  }
}

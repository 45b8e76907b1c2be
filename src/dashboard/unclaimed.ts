import type { QueueView } from '../engine/engine.ts'
import type { Engine } from '../engine/index.ts'

export const MOST_SLOW = 3

export async function unclaimedIn(engine: Engine, queues: readonly QueueView[]): Promise<Map<string, string[]>> {
  const found = await Promise.all(queues.map(({ name }) => engine.queues.get(name).catch(() => undefined)))
  const classes = found.flatMap((queue): [string, string[]][] => {
    if (!queue || queue.next.some(({ pull }) => !pull)) return []
    return [[queue.name, [...new Set(queue.next.map((job) => job.class))]]]
  })
  return new Map(classes.filter(([, names]) => names.length > 0))
}

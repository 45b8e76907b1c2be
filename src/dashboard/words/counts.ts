import type { Status } from '../../core/job.ts'
import type { QueueView } from '../../engine/engine.ts'
import { statusOrder } from './text.ts'

export type Counted = Partial<Record<Status, number>>

export function countsOf(queues: readonly QueueView[], queue: string | null): Counted {
  const chosen = queue ? queues.filter(({ name }) => name === queue) : queues
  return Object.fromEntries(
    statusOrder.map((status) => [status, chosen.reduce((sum, { counts }) => sum + counts[status], 0)]),
  )
}

export const sumOf = (counts: Counted): number => Object.values(counts).reduce((a, b) => a + b, 0)

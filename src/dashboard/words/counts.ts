import { type Status, statuses } from '../../core/job.ts'
import type { QueueView } from '../../engine/engine.ts'

export type Counted = Partial<Record<Status, number>>

export function countsOf(queues: readonly QueueView[], queue: string | null): Counted {
  const chosen = queue ? queues.filter(({ name }) => name === queue) : queues
  return Object.fromEntries(statuses.map((status) => [status, sum(chosen, ({ counts }) => counts[status])]))
}

export const sum = <One = number>(list: readonly One[], of: (one: One) => number = Number): number =>
  list.reduce((all, one) => all + of(one), 0)

export const sumOf = (counts: Counted): number => sum(Object.values(counts))

// What is said of queues.

import type { QueueView } from '../../engine/engine.ts'

/** How many could start as soon as a lane is free: those that wait for a time or at a limit could not. */
export const readyIn = ({ counts: { queued, scheduled, limited } }: Pick<QueueView, 'counts'>): number =>
  Math.max(0, queued - scheduled - limited)

// Sentences about queues.

import type { QueueView } from '../../engine/engine.ts'

/** Jobs that could start on a free lane: neither scheduled nor at a limit. */
export const readyIn = ({ counts: { queued, scheduled, limited } }: Pick<QueueView, 'counts'>): number =>
  Math.max(0, queued - scheduled - limited)

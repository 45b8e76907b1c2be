import type { QueueView } from '../../engine/engine.ts'

/** Neither scheduled nor waiting for a limit. */
export const readyIn = ({ counts: { queued, scheduled, limited } }: Pick<QueueView, 'counts'>): number =>
  Math.max(0, queued - scheduled - limited)

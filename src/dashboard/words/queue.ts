import type { QueueView } from '../../engine/engine.ts'

export const readyIn = ({ counts: { queued, scheduled, limited } }: Pick<QueueView, 'counts'>): number =>
  Math.max(0, queued - scheduled - limited)

// What is said of limits.

import type { LimitView } from '../../engine/engine.ts'

/** Nobody comes in, and somebody waits for it. */
export const isFull = ({ concurrency, running, waiting }: LimitView): boolean =>
  concurrency !== null && running >= concurrency && waiting > 0

import type { Worker } from '../core/worker.ts'
import type { Engine } from '../engine/index.ts'

export type Alerting = {
  worker: Worker
  /** Called once per minute by the tick. */
  check: (of: { engine: Engine; publicUrl: string; now: number }) => Promise<void>
}

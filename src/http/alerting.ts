// Alerts as the Worker starts them. It knows none of their rules.

import type { Worker } from '../core/worker.ts'
import type { Engine } from '../engine/index.ts'

export type Alerting = {
  /** The class of the jobs that send messages. */
  worker: Worker
  /** Called once a minute by the tick. */
  check: (of: { engine: Engine; publicUrl: string; now: number }) => Promise<void>
}

import type { Worker } from '../core/worker.ts'
import type { Engine } from '../engine/index.ts'

export type Alerting = {
  worker: Worker
  check: (of: { engine: Engine; publicUrl: string; now: number }) => Promise<void>
}

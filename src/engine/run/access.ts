import { ownOf } from '../../core/own.ts'
import { Terminal } from '../../core/worker.ts'
import type { RunBuffer } from './buffer.ts'
import type { SpawnOptions } from './options.ts'
import type { RunParts } from './parts.ts'
import type { RunAccess } from './steps.ts'
import type { Pause } from './suspension.ts'

type Of = {
  readonly queue: string
  readonly startedAt: Date
  spawn: (name: string, worker: { queue?: string; class: string }, options: SpawnOptions) => void
  checkpoint: () => Promise<void>
}

type Run = {
  buffer: RunBuffer
  parts: RunParts
  began: number
  now: () => number
  checked: (port: string, value: unknown) => unknown
}

function pause({ buffer, parts: { suspension } }: Run, what: Pause): Promise<never> {
  if (buffer.loose)
    suspension.refuse(
      new Terminal(
        `a ${buffer.loose} outside of a step and before a wait would be repeated when the function runs again. ` +
          'Move it into a step',
      ),
    )
  return suspension.pause(what)
}

export function accessOf(job: Of, run: Run): RunAccess {
  const { buffer, parts } = run
  const uses = new Map<string, number>()
  const has = (port: string) => ownOf(buffer.snapshot.in, port) !== undefined
  return {
    queue: job.queue,
    now: () => job.startedAt.getTime() + run.now() - run.began,
    get steps() {
      return parts.steps
    },
    once: (scope, key, action) => parts.guarded(parts.steps.once(scope, key, parts.traced(`step ${key}`, action))),
    waiting: (helper, work) => parts.waiting(helper, work),
    op: (op) => buffer.act(() => buffer.op(op)),
    spawn: (...child) => buffer.act(() => job.spawn(...child)),
    commit: () => job.checkpoint(),
    checked: (port, value) => (has(port) ? run.checked(port, value) : value),
    take: (port) => (has(port) ? parts.inputs.take(port) : Promise.resolve(undefined)),
    endOf: (child) => parts.children.end(child),
    pause: (what) => pause(run, what),
    use(key) {
      uses.set(key, (uses.get(key) ?? 0) + 1)
      return uses.get(key)!
    },
    uses: (key) => uses.get(key) ?? 0,
  }
}

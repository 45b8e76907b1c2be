// What the helpers of steps and waits may do with the run that they are in.

import { Terminal } from '../../core/worker.ts'
import type { RunBuffer } from './buffer.ts'
import type { Children } from './children.ts'
import type { Inputs } from './inputs.ts'
import type { SpawnOptions } from './options.ts'
import type { Pause } from './pause.ts'
import type { StepStore } from './step-store.ts'
import type { RunAccess } from './steps.ts'
import type { createSuspension } from './suspension.ts'
import { ownOf } from './values.ts'

type Of = {
  readonly queue: string
  readonly startedAt: Date
  spawn: (name: string, worker: { queue?: string; class: string }, options: SpawnOptions) => void
  checkpoint: () => Promise<void>
}

type Run = {
  buffer: RunBuffer
  inputs: Inputs
  children: Children
  steps: StepStore
  pauses: ReturnType<typeof createSuspension>
  now: () => number
  /** A value of an input port as its schema has it. */
  checked: (port: string, value: unknown) => unknown
}

function pause({ buffer, pauses }: Run, what: Pause): Promise<never> {
  if (buffer.loose)
    pauses.refuse(
      new Terminal(
        `a ${buffer.loose} before a wait and outside of a step would be done again when the function comes back to it: ` +
          'put it into a step',
      ),
    )
  return pauses.pause(what)
}

/**
 * The parts of a run, as its helpers see them.
 *
 * @example const steps = new Steps(accessOf(job, run))
 */
export function accessOf(job: Of, run: Run): RunAccess {
  const { buffer, inputs, children, steps } = run
  const uses = new Map<string, number>()
  const began = run.now()
  const has = (port: string) => ownOf(buffer.snapshot.in, port) !== undefined
  return {
    queue: job.queue,
    now: () => job.startedAt.getTime() + run.now() - began,
    kept: (key) => steps.kept(key),
    keep: (key, value) => void steps.keep(key, value),
    forget: (prefix) => steps.forget(prefix),
    once: (key, action) => steps.once(key, action),
    op: (op) => buffer.act(() => buffer.op(op)),
    spawn: (...child) => buffer.act(() => job.spawn(...child)),
    commit: () => job.checkpoint(),
    checked: (port, value) => (has(port) ? run.checked(port, value) : value),
    take: (port) => (has(port) ? inputs.take(port) : Promise.resolve(undefined)),
    heir: (child) => children.end(child),
    pause: (what) => pause(run, what),
    use(key) {
      uses.set(key, (uses.get(key) ?? 0) + 1)
      return uses.get(key)!
    },
  }
}

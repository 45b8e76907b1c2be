// What a run has beside its buffer. Each part is made when it is first asked for, which most runs never do: making all of
// them costs more than a short run does.

import type { Changes } from '../../core/run.ts'
import type { RunBuffer } from './buffer.ts'
import { Children } from './children.ts'
import { Inputs } from './inputs.ts'
import { StepStore } from './step-store.ts'
import { createSuspension, type Paused, type Suspension } from './suspension.ts'
import type { JobTools } from './tools.ts'

/** Who hears of waits, of a job that nobody has begun. */
const nobody: Paused = { ended: () => undefined, refused: () => undefined }

/**
 * The parts of one run.
 *
 * @example const parts = new RunParts(buffer, tools, () => job.checkpoint()); await parts.inputs.read('a')
 */
export class RunParts {
  /** Who is told how the run ends when all that is left of its function waits. */
  paused = nobody
  readonly #buffer: RunBuffer
  readonly #tools: JobTools
  readonly #checkpoint: () => Promise<void>
  #suspension: Suspension | undefined
  #inputs: Inputs | undefined
  #children: Children | undefined
  #steps: StepStore | undefined

  constructor(buffer: RunBuffer, tools: JobTools, checkpoint: () => Promise<void>) {
    this.#buffer = buffer
    this.#tools = tools
    this.#checkpoint = checkpoint
  }

  get suspension(): Suspension {
    return (this.#suspension ??= createSuspension(this.paused))
  }

  get inputs(): Inputs {
    return (this.#inputs ??= new Inputs(this.#buffer, this.#tools, this.suspension.during))
  }

  get children(): Children {
    return (this.#children ??= new Children(this.#buffer, this.#tools))
  }

  get steps(): StepStore {
    const { during } = this.suspension
    return (this.#steps ??= new StepStore(this.#buffer, this.#tools, { during, checkpoint: this.#checkpoint }))
  }

  /** How much was read since the last commit. */
  reads(): NonNullable<Changes['reads']> {
    return this.#inputs?.reads() ?? {}
  }

  /** Some port of those that are read together has a value, and another none. */
  get isPartial(): boolean {
    return this.#inputs?.isPartial ?? false
  }

  /** What is read now are defaults that have changed. */
  get defaultsOnly(): boolean {
    return this.#inputs?.defaultsOnly ?? false
  }

  /** After a commit, which brought another snapshot. */
  clear(): void {
    this.#inputs?.clear()
    this.#children?.clear()
  }

  /** Throws where a step goes on that nobody waits for. */
  allAwaited(): void {
    this.#steps?.allAwaited()
  }
}

// Inputs, children and steps of a run. Creating all costs more than a short run, so each is created on first use.

import type { Changes } from '../../core/run.ts'
import { Terminal } from '../../core/worker.ts'
import type { RunBuffer } from './buffer.ts'
import { Children } from './children.ts'
import { CodeWatch, type OnCodeChange } from './code-change.ts'
import { Inputs } from './inputs.ts'
import { Observed } from './observed.ts'
import { StepStore } from './step-store.ts'
import { createSuspension, type Paused, type Suspension, turn } from './suspension.ts'
import type { JobTools, Rehearsal } from './tools.ts'

const nobody: Paused = { ended: () => undefined, refused: () => undefined }

function rehearsalEnd({ reached }: Rehearsal, what: string): Error {
  reached(what)
  return new Error(`the rehearsal ended before ${what}`)
}

export class RunParts {
  paused = nobody
  readonly #buffer: RunBuffer
  readonly #tools: JobTools
  readonly #checkpoint: () => Promise<void>
  readonly #onCodeChange: OnCodeChange
  #waiting: Observed<unknown>[] = []
  #suspension: Suspension | undefined
  #inputs: Inputs | undefined
  #children: Children | undefined
  #steps: StepStore | undefined

  constructor(
    buffer: RunBuffer,
    tools: JobTools,
    { checkpoint, onCodeChange = 'fail' }: { checkpoint: () => Promise<void>; onCodeChange?: OnCodeChange },
  ) {
    this.#buffer = buffer
    this.#tools = tools
    this.#checkpoint = checkpoint
    this.#onCodeChange = onCodeChange
  }

  get suspension(): Suspension {
    return (this.#suspension ??= createSuspension(this.paused))
  }

  get inputs(): Inputs {
    return (this.#inputs ??= new Inputs(this.#buffer, this.#tools, (work) => this.suspension.during(work)))
  }

  get children(): Children {
    return (this.#children ??= new Children(this.#buffer, this.#tools))
  }

  get steps(): StepStore {
    if (this.#steps) return this.#steps
    const { during, refuse } = this.suspension
    const buffer = this.#buffer
    const log = (entry: string) => buffer.op({ op: 'log', entry: buffer.log.message(entry) })
    const { rehearsal } = this.#tools
    const watch = new CodeWatch({
      mode: this.#onCodeChange,
      job: buffer.snapshot.job.id,
      refuse,
      log,
      noted: rehearsal?.changed,
    })
    const isLost = ({ helper, isObserved }: Observed<unknown>) => helper === 'patched' && !isObserved
    const answersAwaited = async () => {
      // Gives a branch that has just called `patched` time to await the answer.
      if (this.#waiting.some(isLost)) await during(turn)
      this.#awaited(isLost)
    }
    const end = rehearsal && ((what: string) => refuse(rehearsalEnd(rehearsal, what)))
    return (this.#steps = new StepStore(buffer, this.#tools, {
      during,
      checkpoint: this.#checkpoint,
      answersAwaited,
      watch,
      end,
      results: rehearsal?.results,
    }))
  }

  reads(): NonNullable<Changes['reads']> {
    return this.#inputs?.reads() ?? {}
  }

  get isPartial(): boolean {
    return this.#inputs?.isPartial ?? false
  }

  get defaultsOnly(): boolean {
    return this.#inputs?.defaultsOnly ?? false
  }

  clear(): void {
    this.#inputs?.clear()
    this.#children?.clear()
  }

  waiting<T>(helper: string, work: Promise<T>): Promise<T> {
    const observed = this.guarded(work)
    observed.helper = helper
    this.#waiting.push(observed as Observed<unknown>)
    return observed
  }

  traced<T>(name: string, action: () => T | Promise<T>): () => T | Promise<T> {
    const { trace } = this.#tools
    return trace ? () => trace.span(name, action) : action
  }

  /** Drops the error of a call that was not awaited and fails after the run, because no code would catch it. */
  guarded<T>(work: Promise<T>): Observed<T> {
    const isEarly = !this.#buffer.isClosed
    const isLost = () => isEarly && this.#buffer.isClosed && !observed.isObserved
    const observed: Observed<T> = new Observed<T>((resolve, reject) => {
      work.then(resolve, (error) => isLost() || reject(error))
    })
    return observed
  }

  allAwaited(isPaused: boolean): void {
    this.#steps?.allAwaited()
    if (!isPaused) this.#awaited(() => true)
  }

  #awaited(concerns: (helper: Observed<unknown>) => boolean): void {
    const lost = this.#waiting.find((helper) => !helper.isObserved && concerns(helper))
    if (lost)
      throw new Terminal(
        `job.${lost.helper} was not awaited: the run ended without it; expected "await job.${lost.helper}(…)"`,
      )
  }

  get hasSteps(): boolean {
    const { run, steps, moreSteps } = this.#buffer.snapshot
    return run.reason !== 'shutdown' && Boolean(this.#steps || steps || moreSteps)
  }
}

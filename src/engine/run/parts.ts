// State of a run. Creating all parts costs more than a short run, so each is created on first use.

import { encodeValue } from '../../core/codec/value.ts'
import { ownProperty } from '../../core/own.ts'
import type { Changes, Op, Snapshot } from '../../core/run.ts'
import { Ending, Terminal } from '../../core/worker.ts'
import { RunBuffer } from './buffer.ts'
import { Children } from './children.ts'
import { CodeWatch } from './code-change.ts'
import { Inputs } from './inputs.ts'
import { Observed } from './observed.ts'
import { StepStore } from './step-store.ts'
import { createSuspension, nextTurn, type Pause, type Paused, type Suspension } from './suspension.ts'
import type { JobTools, Rehearsal } from './tools.ts'
import { checkedBy, checkedValue, type Shapes } from './values.ts'

const askedBy = { suspended: 'job.suspend(…)', follow: 'job.follow()', again: 'job.again(…)' } as const

function rehearsalEnd({ reached }: Rehearsal, what: string): Error {
  reached(what)
  return new Error(`the rehearsal ended before ${what}`)
}

export class RunParts {
  /** The end that the function has requested, and must return. */
  asked: Ending['end'] | undefined
  readonly buffer: RunBuffer
  readonly tools: JobTools
  readonly shapes: Shapes
  readonly #paused: Paused
  readonly #began: number
  #waiting: Observed<unknown>[] = []
  #suspension: Suspension | undefined
  #inputs: Inputs | undefined
  #children: Children | undefined
  #steps: StepStore | undefined
  #uses: Map<string, number> | undefined

  constructor(snapshot: Snapshot, tools: JobTools, shapes: Shapes, paused: Paused) {
    this.buffer = new RunBuffer(snapshot)
    this.tools = tools
    this.shapes = shapes
    this.#paused = paused
    this.#began = tools.now()
  }

  get snapshot(): Snapshot {
    return this.buffer.snapshot
  }

  get queue(): string {
    return this.snapshot.job.queue
  }

  now(): number {
    return this.snapshot.run.startedAt + this.tools.now() - this.#began
  }

  get suspension(): Suspension {
    return (this.#suspension ??= createSuspension(this.#paused))
  }

  get inputs(): Inputs {
    return (this.#inputs ??= new Inputs(this.buffer, this.tools, (work) => this.suspension.during(work)))
  }

  get children(): Children {
    return (this.#children ??= new Children(this.buffer, this.tools))
  }

  get steps(): StepStore {
    if (this.#steps) return this.#steps
    const { during, refuse } = this.suspension
    const { buffer } = this
    const log = (entry: string) => buffer.op({ op: 'log', entry: buffer.log.message(entry) })
    const { rehearsal } = this.tools
    const watch = new CodeWatch({
      mode: this.shapes.onCodeChange ?? 'fail',
      job: buffer.snapshot.job.id,
      refuse,
      log,
      noted: rehearsal?.changed,
    })
    const isLost = ({ helper, isObserved }: Observed<unknown>) => helper === 'patched' && !isObserved
    const answersAwaited = async () => {
      // Gives a branch that has just called `patched` time to await the answer.
      if (this.#waiting.some(isLost)) await during(nextTurn)
      this.#awaited(isLost)
    }
    const end = rehearsal && ((what: string) => refuse(rehearsalEnd(rehearsal, what)))
    return (this.#steps = new StepStore(buffer, this.tools, {
      during,
      checkpoint: () => this.checkpoint(),
      answersAwaited,
      watch,
      end,
      results: rehearsal?.results,
    }))
  }

  #reads(): NonNullable<Changes['reads']> {
    return this.#inputs?.reads() ?? {}
  }

  get defaultsOnly(): boolean {
    return this.#inputs?.defaultsOnly ?? false
  }

  op(op: Op): void {
    this.buffer.act(() => this.buffer.op(op))
  }

  checked(dir: 'in' | 'out', port: string, value: unknown): unknown {
    return checkedValue(this.shapes, dir, port, value, `job ${this.snapshot.job.id}`)
  }

  hasInput(port: string): boolean {
    return ownProperty(this.snapshot.in, port) !== undefined
  }

  async checkpoint(): Promise<void> {
    this.buffer.open()
    await this.suspension.during(() =>
      this.buffer.commit({
        reads: () => this.#reads(),
        checkpoint: (changes) => this.tools.checkpoint(changes),
        committed: () => {
          this.#inputs?.clear()
          this.#children?.clear()
        },
      }),
    )
  }

  /** Never settles, because the next run continues here. */
  async pause(what: Pause): Promise<never> {
    const { loose } = this.buffer
    if (loose)
      this.suspension.refuse(
        new Terminal(
          `a ${loose} outside of a step and before a wait would be repeated when the function runs again. ` +
            'Move it into a step',
        ),
      )
    return this.suspension.pause(what)
  }

  use(key: string): number {
    const n = this.uses(key) + 1
    this.#uses ??= new Map()
    this.#uses.set(key, n)
    return n
  }

  uses(key: string): number {
    return this.#uses?.get(key) ?? 0
  }

  once<T>(scope: string, key: string, action: () => T | Promise<T>): Promise<T> {
    return this.#guarded(this.steps.once(scope, key, this.traced(`step ${key}`, action)))
  }

  waiting<T>(helper: string, work: Promise<T>): Promise<T> {
    const observed = this.#guarded(work)
    observed.helper = helper
    this.#waiting.push(observed as Observed<unknown>)
    return observed
  }

  traced<T>(name: string, action: () => T | Promise<T>): () => T | Promise<T> {
    const { trace } = this.tools
    return trace ? () => trace.span(name, action) : action
  }

  /** Drops the error of a call that was not awaited and fails after the run, because no code would catch it. */
  #guarded<T>(work: Promise<T>): Observed<T> {
    const isEarly = !this.buffer.isClosed
    const isLost = () => isEarly && this.buffer.isClosed && !observed.isObserved
    const observed: Observed<T> = new Observed<T>((resolve, reject) => {
      work.then(resolve, (error) => isLost() || reject(error))
    })
    return observed
  }

  #awaited(concerns: (helper: Observed<unknown>) => boolean): void {
    const lost = this.#waiting.find((helper) => !helper.isObserved && concerns(helper))
    if (lost)
      throw new Terminal(
        `job.${lost.helper} was not awaited: the run ended without it; expected "await job.${lost.helper}(…)"`,
      )
  }

  get #hasSteps(): boolean {
    const { run, steps, moreSteps } = this.snapshot
    return run.reason !== 'shutdown' && Boolean(this.#steps || steps || moreSteps)
  }

  async finish(ending: unknown): Promise<Changes> {
    const { buffer, shapes, asked } = this
    await buffer.settled()
    buffer.throwIfBroken()
    this.#steps?.allAwaited()
    const isPaused = ending instanceof Ending && ending.options.pause !== undefined
    if (!isPaused) {
      this.#awaited(() => true)
      if (this.#hasSteps) await this.steps.allAsked()
    }
    if (asked && !(ending instanceof Ending))
      throw new Terminal(`${askedBy[asked]} was called and not returned: expected "return ${askedBy[asked]}"`)
    const collect = (end: Changes['end']) => buffer.collect(end, this.#reads())
    if (ending instanceof Ending) return { ...collect(ending.end), ...ending.options }
    const changes = collect(this.#inputs?.isPartial && ending === undefined ? 'suspended' : 'completed')
    const isShutdown = this.snapshot.run.reason === 'shutdown'
    const result =
      changes.end === 'completed' && !(isShutdown && ending === undefined)
        ? checkedBy(shapes, 'result', shapes.result, ending, `the result of job ${this.snapshot.job.id}`)
        : ending
    return result === undefined ? changes : { ...changes, result: encodeValue(result) }
  }
}

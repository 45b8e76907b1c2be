// What the steps and waits of a function have kept, from this run and those before it.

import { decodeValue, type Encoded, encodeValue } from '../../core/codec/value.ts'
import { Terminal } from '../../core/worker.ts'
import type { RunBuffer } from './buffer.ts'
import type { JobTools } from './tools.ts'

type Around = {
  /** Keeps a run that waits otherwise from ending. */
  during: <T>(work: () => Promise<T>) => Promise<T>
  checkpoint: () => Promise<void>
}

/** The steps of one job, as one of its runs sees and keeps them. */
export class StepStore {
  readonly #buffer: RunBuffer
  readonly #tools: Pick<JobTools, 'steps'>
  readonly #around: Around
  /** As far as they are known here. */
  #steps: Map<string, Encoded>
  #more: boolean
  /** Those that were begun and are not kept yet. */
  #underWay = new Set<string>()

  constructor(buffer: RunBuffer, tools: Pick<JobTools, 'steps'>, around: Around) {
    this.#buffer = buffer
    this.#tools = tools
    this.#around = around
    this.#steps = new Map(Object.entries(buffer.snapshot.steps ?? {}))
    this.#more = buffer.snapshot.moreSteps ?? false
  }

  async kept(key: string): Promise<Encoded | undefined> {
    this.#buffer.open()
    if (!this.#steps.has(key) && this.#more) {
      const steps = await this.#around.during(() => this.#tools.steps())
      if (this.#more) this.#steps = new Map([...Object.entries(steps), ...this.#steps])
      this.#more = false
    }
    return this.#steps.get(key)
  }

  /** `ms`: how long it took. */
  keep(name: string, value: unknown, ms?: number): Encoded {
    const kept = encodeValue(value)
    this.#buffer.op({ op: 'step', name, value: kept, ...(ms === undefined ? {} : { ms }) })
    this.#steps.set(name, kept)
    return kept
  }

  /** Nobody will ask for these again: all whose names begin so. */
  forget(prefix: string): void {
    for (const name of this.#steps.keys())
      if (name.startsWith(prefix)) {
        this.#buffer.op({ op: 'step', name, forget: true })
        this.#steps.delete(name)
      }
  }

  /** Runs `action` under a name, once: its result is committed, and given again ever after. */
  async once<T>(name: string, action: () => T | Promise<T>): Promise<T> {
    this.#buffer.open()
    this.#underWay.add(name)
    return this.#doOnce(name, action).finally(() => this.#underWay.delete(name))
  }

  /** Throws where a step goes on that nobody waits for. */
  allAwaited(): void {
    const [step] = this.#underWay
    if (step !== undefined)
      throw new Terminal(`step ${step} was not awaited: its work would be lost; expected "await job.step(…)"`)
  }

  async #doOnce<T>(name: string, action: () => T | Promise<T>): Promise<T> {
    const known = await this.kept(name)
    if (known !== undefined) return decodeValue(known) as T
    return this.#around.during(async () => {
      const began = performance.now()
      const result = (await this.#buffer.act(action)) ?? null
      const value = this.keep(name, result, Math.round(performance.now() - began))
      await this.#around.checkpoint()
      // As every later run will see it.
      return decodeValue(value) as T
    })
  }
}

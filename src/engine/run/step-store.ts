// Results of steps and waits of a function, from this run and earlier ones.

import type { CodeChange } from '../../core/code-change.ts'
import { decodeValue, type Encoded, encodeValue } from '../../core/codec/value.ts'
import { Terminal } from '../../core/worker.ts'
import type { RunBuffer } from './buffer.ts'
import { type CodeWatch, FREE, isOf, stepText, type Waited, waitText } from './code-change.ts'
import type { JobTools } from './tools.ts'

type Around = {
  /** Keeps a waiting run from ending. */
  during: <T>(work: () => Promise<T>) => Promise<T>
  checkpoint: () => Promise<void>
  watch: CodeWatch
}

const turn = () => new Promise<void>((resolve) => setTimeout(resolve, 0))
const never = new Promise<never>(() => undefined)

export class StepStore {
  readonly #buffer: RunBuffer
  readonly #tools: Pick<JobTools, 'steps'>
  readonly #around: Around
  #steps: Map<string, Encoded>
  #more: boolean
  /** Keys that this run has asked for. */
  #asked = new Set<string>()
  /** Scopes of `parallel` that an error ended early. Their other branches need not ask for everything. */
  #abandoned: string[] = []
  /** Steps that have begun and are not stored. */
  #underWay = new Set<string>()
  #hasFailed = false
  #isOver = false

  constructor(buffer: RunBuffer, tools: Pick<JobTools, 'steps'>, around: Around) {
    this.#buffer = buffer
    this.#tools = tools
    this.#around = around
    this.#steps = new Map(Object.entries(buffer.snapshot.steps ?? {}))
    this.#more = buffer.snapshot.moreSteps ?? false
  }

  async kept(key: string): Promise<Encoded | undefined> {
    this.#buffer.open()
    this.#asked.add(key)
    if (!this.#steps.has(key)) await this.#readAll()
    return this.#steps.get(key)
  }

  /** `ms` is the length of the step. */
  keep(name: string, value: unknown, ms?: number): Encoded {
    const kept = encodeValue(value)
    this.#buffer.op({ op: 'step', name, value: kept, ...(ms === undefined ? {} : { ms }) })
    this.#steps.set(name, kept)
    this.#asked.add(name)
    this.#noteFree()
    return kept
  }

  /** Removes all records whose names have this prefix. No later run asks for them. */
  forget(prefix: string): void {
    for (const name of this.#steps.keys())
      if (name.startsWith(prefix)) {
        this.#buffer.op({ op: 'step', name, forget: true })
        this.#steps.delete(name)
      }
  }

  /** Runs `action` once. Its result is committed and returned by every later call. */
  async once<T>(scope: string, name: string, action: () => T | Promise<T>): Promise<T> {
    this.#buffer.open()
    this.#underWay.add(name)
    return this.#doOnce(scope, name, action).finally(() => this.#underWay.delete(name))
  }

  /**
   * Called before a function does something new in a scope or waits there. By then it has asked for all stored
   * records of the scope, unless its code changed.
   */
  async beforeNew(scope: string, asked: string): Promise<void> {
    if (this.#isOver) await never
    const missing = await this.#missing((key) => isOf(scope, key), asked)
    if (missing !== undefined) await this.#around.watch.report({ kept: this.#textOf(missing), asked })
    if (this.#isOver) await never
    this.#noteFree()
  }

  report(change: CodeChange): Promise<void> {
    return this.#around.watch.report(change)
  }

  /** An error of a branch ends the `parallel` of these scopes. */
  abandon(prefix: string): void {
    this.#abandoned.push(prefix)
  }

  /** @throws if a step is not awaited. */
  allAwaited(): void {
    const [step] = this.#underWay
    if (step !== undefined)
      throw new Terminal(`step ${step} was not awaited: its work would be lost; expected "await job.step(…)"`)
  }

  /** @throws if the function returned without asking for a record. */
  async allAsked(): Promise<void> {
    const missing = await this.#missing((key) => !this.#abandoned.some((prefix) => key.startsWith(prefix)))
    if (missing !== undefined) this.#around.watch.end(this.#textOf(missing))
  }

  async #doOnce<T>(scope: string, name: string, action: () => T | Promise<T>): Promise<T> {
    const known = await this.kept(name)
    if (known !== undefined) return decodeValue(known) as T
    await this.beforeNew(scope, stepText(name))
    return this.#around.during(async () => {
      const began = performance.now()
      const result = (await this.#act(action)) ?? null
      const value = this.keep(name, result, Math.round(performance.now() - began))
      await this.#around.checkpoint()
      return decodeValue(value) as T
    })
  }

  async #act<T>(action: () => T | Promise<T>): Promise<T> {
    try {
      return await this.#buffer.act(action)
    } catch (error) {
      this.#hasFailed = true
      throw error
    }
  }

  async #readAll(): Promise<void> {
    if (!this.#more) return
    const steps = await this.#around.during(() => this.#tools.steps())
    if (this.#more) this.#steps = new Map([...Object.entries(steps), ...this.#steps])
    this.#more = false
  }

  /**
   * Returns a record that this run has not requested. Prefers a step if the new thing is a step. Concurrent chains
   * have until the next turn of the event loop to ask. `asked` is absent at the end of the function.
   */
  async #missing(concerns: (key: string) => boolean, asked?: string): Promise<string | undefined> {
    if (!this.#around.watch.isOn) return undefined
    await this.#readAll()
    const find = () => {
      if (this.#steps.has(FREE) || this.#isFree) return undefined
      const keys = [...this.#steps.keys()].filter((key) => key !== FREE && !this.#asked.has(key) && concerns(key))
      return keys.find((key) => asked?.startsWith('step ') === this.#textOf(key).startsWith('step ')) ?? keys[0]
    }
    if (find() === undefined) return undefined
    // Nothing new begins from here on.
    this.#isOver = asked === undefined
    await this.#around.during(turn)
    return find()
  }

  /** The next run may take another path without a code change. */
  get #isFree(): boolean {
    return this.#hasFailed || this.#buffer.isFree
  }

  #noteFree(): void {
    if (this.#steps.size === 0 || this.#steps.has(FREE) || !this.#isFree || !this.#around.watch.isOn) return
    const kept = encodeValue({})
    this.#buffer.op({ op: 'step', name: FREE, value: kept })
    this.#steps.set(FREE, kept)
  }

  #textOf(key: string): string {
    const value = decodeValue(this.#steps.get(key)!) as Waited | null
    const isWait = key.startsWith('~') && typeof value === 'object' && value !== null && value.kind !== undefined
    return isWait ? waitText(key, value) : stepText(key)
  }
}

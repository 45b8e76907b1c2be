import type { CodeChange } from '../../core/code-change.ts'
import { decodeValue, type Encoded, encodeValue } from '../../core/codec/value.ts'
import { Terminal } from '../../core/worker.ts'
import type { RunBuffer } from './buffer.ts'
import {
  type CodeWatch,
  FREE,
  isRecord,
  isSameIteration,
  isWithin,
  type NewerPatch,
  type Patch,
  patchIn,
  patchKey,
  stepText,
  type Waited,
  waitText,
} from './code-change.ts'
import { nextTurn } from './suspension.ts'
import type { JobTools } from './tools.ts'

type Around = {
  during: <T>(work: () => Promise<T>) => Promise<T>
  checkpoint: () => Promise<void>
  answersAwaited: () => Promise<void>
  watch: CodeWatch
  end?: (what: string) => void
  results?: ReadonlyMap<string, Encoded>
}

const never = new Promise<never>(() => undefined)

export class StepStore {
  readonly #buffer: RunBuffer
  readonly #tools: Pick<JobTools, 'steps'>
  readonly #around: Around
  #steps: Map<string, Encoded>
  #more: boolean
  #asked = new Set<string>()
  #answers = new Map<string, { scope: string; patch: Patch }>()
  /** Scopes with a failed branch. Their other branches may end early. */
  #abandoned: string[] = []
  #underWay = new Set<string>()
  #doubled = new Set<string>()
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

  keep(name: string, value: unknown, ms?: number): Encoded {
    this.#keepAnswers(name)
    const kept = this.#store(name, value, ms)
    this.#noteFree()
    return kept
  }

  unasked(): Map<string, Encoded> {
    return new Map([...this.#steps].filter(([key]) => isRecord(key) && !this.#asked.has(key)))
  }

  async patched(scope: string, id: string): Promise<boolean> {
    if (typeof id !== 'string' || id === '')
      throw new Terminal(`job.patched: expected an id, got ${JSON.stringify(id)}`)
    const key = patchKey(scope, id)
    const kept = await this.kept(key)
    if (kept !== undefined) return (decodeValue(kept) as Patch).is
    const isPast = await this.#isPast(scope)
    if (!this.#answers.has(key)) {
      const patch: Patch = { kind: 'patched', is: !isPast, at: this.#buffer.snapshot.run.startedAt }
      this.#answers.set(key, { scope, patch })
    }
    return this.#answers.get(key)!.patch.is
  }

  forget(prefix: string): void {
    for (const name of this.#steps.keys())
      if (name.startsWith(prefix)) {
        this.#buffer.op({ op: 'step', name, forget: true })
        this.#steps.delete(name)
      }
    for (const key of this.#answers.keys()) if (key.startsWith(prefix)) this.#answers.delete(key)
  }

  async once<T>(scope: string, name: string, action: () => T | Promise<T>): Promise<T> {
    this.#buffer.open()
    if (this.#underWay.has(name)) this.#doubled.add(name)
    this.#underWay.add(name)
    return this.#doOnce(scope, name, action).finally(() => this.#underWay.delete(name))
  }

  /** Reports a change of code if a stored step of the scope was not requested before this new step. */
  async beforeNew(scope: string, asked: string, newKey?: string): Promise<void> {
    if (this.#isOver) await never
    await this.#around.answersAwaited()
    const missing = await this.#missing((key) => isWithin(scope, key), asked)
    if (missing !== undefined) await this.report({ kept: this.#textOf(missing), asked })
    if (this.#isOver) await never
    if (newKey !== undefined && this.#around.end && !this.#around.results?.has(newKey)) {
      this.#around.end(asked)
      await never
    }
    this.#noteFree()
  }

  report(change: CodeChange): Promise<void> {
    return this.#around.watch.report(change, this.#newer())
  }

  abandon(prefix: string): void {
    this.#abandoned.push(prefix)
  }

  allAwaited(): void {
    const step = [...this.#underWay].find((key) => !this.#isAbandoned(key))
    if (step !== undefined)
      throw new Terminal(`${stepText(step)} was not awaited: its work would be lost; expected "await job.step(…)"`)
  }

  async allAsked(): Promise<void> {
    const missing = await this.#missing((key) => !this.#isAbandoned(key))
    if (missing !== undefined) this.#around.watch.end(this.#textOf(missing), this.#newer())
  }

  #isAbandoned(key: string): boolean {
    return this.#abandoned.some((prefix) => key.startsWith(prefix))
  }

  async #doOnce<T>(scope: string, name: string, action: () => T | Promise<T>): Promise<T> {
    const known = await this.kept(name)
    if (known !== undefined) return decodeValue(known) as T
    const step = stepText(name)
    await this.beforeNew(scope, step, name)
    if (this.#doubled.has(name))
      throw new Terminal(`two concurrent calls of ${step}: give each its own name, or await the first call`)
    return this.#around.during(async () => {
      const began = performance.now()
      const recorded = this.#around.results?.get(name)
      const result = recorded === undefined ? ((await this.#act(action)) ?? null) : decodeValue(recorded)
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

  async #missing(concerns: (key: string) => boolean, asked?: string): Promise<string | undefined> {
    if (!this.#around.watch.isOn) return undefined
    await this.#readAll()
    const find = () => {
      if (this.#steps.has(FREE) || this.#isFree) return undefined
      const keys = [...this.unasked().keys()].filter(concerns)
      return keys.find((key) => asked?.startsWith('step ') === this.#textOf(key).startsWith('step ')) ?? keys[0]
    }
    if (find() === undefined) return undefined
    this.#isOver = asked === undefined
    await this.#around.during(nextTurn)
    return find()
  }

  /** Waits one turn of the event loop, so that other branches can request their records. */
  async #isPast(scope: string): Promise<boolean> {
    await this.#readAll()
    const find = () => [...this.unasked().keys()].some((key) => isSameIteration(scope, key))
    if (!find()) return false
    await this.#around.during(nextTurn)
    return find()
  }

  #keepAnswers(name: string): void {
    for (const [key, { scope, patch }] of this.#answers)
      if (isSameIteration(scope, name)) {
        this.#store(key, patch)
        this.#answers.delete(key)
      }
  }

  #store(name: string, value: unknown, ms?: number): Encoded {
    const kept = encodeValue(value)
    this.#buffer.op({ op: 'step', name, value: kept, ms })
    this.#steps.set(name, kept)
    this.#asked.add(name)
    return kept
  }

  #newer(): NewerPatch | undefined {
    const now = this.#buffer.snapshot.run.startedAt
    const patches = [...this.#steps].flatMap(([key, kept]) => {
      const id = this.#asked.has(key) ? undefined : patchIn(key)
      const patch = id === undefined ? undefined : (decodeValue(kept) as Patch)
      return patch?.is ? [{ id: id!, age: now - patch.at }] : []
    })
    return patches.sort((a, b) => a.age - b.age)[0]
  }

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

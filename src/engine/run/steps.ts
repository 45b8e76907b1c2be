import { decodeValue } from '../../core/codec/value.ts'
import { type Duration, milliseconds } from '../../core/time.ts'
import { DAY } from '../../core/units.ts'
import { Terminal } from '../../core/worker.ts'
import type { ChildEnd } from './children.ts'
import { type Asked, changeOf, differs, type Waited, waitText } from './code-change.ts'
import { type SpawnOptions, spawnOp } from './options.ts'
import type { RunParts } from './parts.ts'

type Named = {
  /** Key of the wait (default: its kind and position). */
  name?: string
  /** @deprecated Use `name`. */
  as?: string
}

export type WaitOptions = Named & { timeout?: Duration }

export type CallOptions = Omit<SpawnOptions, 'args' | 'keepResult'> & Named

type ParallelOptions = Named & { limit?: number }

export class CallFailed extends Terminal {}

export const RESERVED = '~'

/** Milliseconds for which the result of a called job is kept, long enough for a paused queue. */
const KEPT = 30 * DAY

type Branch<T = unknown> = (at: Steps) => T | Promise<T>

type Results<B extends readonly Branch[]> = { -readonly [K in keyof B]: Awaited<ReturnType<B[K]>> }

type Called = Exclude<Waited['done'], true | undefined>

const isChannel = (name: string): boolean => name.startsWith('/')

function portFor(key: string): string {
  let hash = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(key))
    hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn
  return `wait_${hash.toString(36)}`
}

export const isForMessages = (port: string): boolean => /^wait_[0-9a-z]{1,13}$/.test(port)

const opened = ({ result, error }: ChildEnd): Called => ({
  ...(result === undefined ? {} : { result: decodeValue(result) }),
  ...(error === undefined ? {} : { error: decodeValue(error) as { message?: string } }),
})

const GONE: Called = { error: { message: 'was deleted, and its result is unknown' } }

function answerOf<T>(child: string, { result, error }: Called): T {
  if (error) throw new CallFailed(`${child}: ${error.message ?? 'ended without completing'}`, { detail: error.detail })
  return result as T
}

/**
 * The steps and waits of a function or of one branch.
 *
 * @example
 * await job.step('charge', () => charge(order))
 * await job.sleep('3 days')
 * const answer = await job.waitFor('answer', { timeout: '1 week' })
 */
export class Steps {
  readonly #run: RunParts
  readonly #scope: string

  constructor(run: RunParts, scope = '') {
    this.#run = run
    this.#scope = scope
  }

  /**
   * Runs `action` once and commits its result together with all changes so far. Later calls return the stored result.
   */
  step<T>(name: string, action: () => T | Promise<T>): Promise<T> {
    if (name.startsWith(RESERVED))
      throw new Terminal(`a step cannot be named ${name}: expected a name that does not begin with ${RESERVED}`)
    return this.#run.once(this.#scope, this.#scope + name, action)
  }

  /**
   * Returns true if the job first reaches this line with the new code, and false if an earlier run was already past it.
   * The answer is stored and never changes for the job.
   *
   * @example if (await job.patched('audit')) await job.step('audit', () => audit(order))
   */
  patched(id: string): Promise<boolean> {
    return this.#run.waiting('patched', this.#run.steps.patched(this.#scope, id))
  }

  /** Continues in another run after a duration (milliseconds, or a string like '3 days') or at a date. */
  sleep(length: Duration | Date, options: Named = {}): Promise<void> {
    return this.#run.waiting('sleep', this.#sleep(length, options))
  }

  async #sleep(length: Duration | Date, named: Named): Promise<void> {
    const run = this.#run
    const asked: Asked = { kind: 'sleep', ...(length instanceof Date ? {} : { ms: milliseconds(length) }) }
    const { key, known } = await this.#wait('sleep', named, asked)
    const until = known?.until ?? (length instanceof Date ? length.getTime() : run.now() + asked.ms!)
    if (run.now() >= until) return
    await run.steps.beforeNew(this.#scope, waitText(key, asked), known ? undefined : key)
    if (!known) run.steps.keep(key, { ...asked, until })
    return run.pause({ until })
  }

  /** Returns the next value of an input port or the next message of a channel, or undefined after the timeout. */
  waitFor<T = unknown>(on: string, options: WaitOptions = {}): Promise<T | undefined> {
    return this.#run.waiting('waitFor', this.#waitFor<T>(on, options))
  }

  async #waitFor<T>(on: string, { timeout, ...named }: WaitOptions): Promise<T | undefined> {
    const run = this.#run
    const asked: Asked = { kind: 'waitFor', on, ...(timeout === undefined ? {} : { ms: milliseconds(timeout) }) }
    const { key, known } = await this.#wait(on, named, asked)
    const port = isChannel(on) ? portFor(key) : on
    // The value is stored before its schema parses it, because a schema may return a value that JSON cannot represent.
    const isChecked = !isChannel(on) && run.hasInput(port)
    const given = (value: unknown) => (value === undefined || !isChecked ? value : run.checked('in', port, value)) as T
    if (known?.done) return given(known.value)
    await run.steps.beforeNew(this.#scope, waitText(key, asked), known ? undefined : key)
    const found = run.hasInput(port) ? await run.inputs.take(port) : undefined
    const until = known ? known.until : asked.ms === undefined ? undefined : run.now() + asked.ms
    if (!found && (until === undefined || run.now() < until)) {
      if (!known) run.steps.keep(key, { ...asked, until })
      if (!known && isChannel(on)) run.op({ op: 'amend', in: { [port]: { channels: [on] } } })
      return run.pause({ until })
    }
    const value = found && decodeValue(found.data)
    const answer = given(value)
    run.steps.keep(key, { ...asked, done: true, value })
    if (known && isChannel(on)) run.op({ op: 'amend', drop: { in: [port] } })
    await run.checkpoint()
    return answer
  }

  /** Creates a child and returns its result. Throws `CallFailed` if the child does not complete. */
  callWorker<T = unknown>(
    worker: string | { queue?: string; class: string },
    args?: unknown,
    options: CallOptions = {},
  ): Promise<T> {
    return this.#run.waiting('callWorker', this.#callWorker<T>(worker, args, options))
  }

  async #callWorker<T>(
    worker: string | { queue?: string; class: string },
    args: unknown,
    { name, as, ...options }: CallOptions,
  ): Promise<T> {
    const run = this.#run
    const called = typeof worker === 'string' ? { queue: run.queue, class: worker } : worker
    const asked: Asked = { kind: 'callWorker', class: called.class }
    const { key, known } = await this.#wait(called.class, { name, as }, asked)
    const child = key.slice(RESERVED.length)
    if (known?.done) return answerOf<T>(child, known.done as Called)
    await run.steps.beforeNew(this.#scope, waitText(key, asked), known ? undefined : key)
    const end = known && run.children.end(child)
    if (!known) {
      run.steps.keep(key, asked)
      run.op(spawnOp(child, called, { ...options, args, keepResult: KEPT }))
    }
    if (!known || end === 'open') return run.pause({ child })
    const done = end ? opened(end) : GONE
    run.steps.keep(key, { ...asked, done })
    if (end) run.op({ op: 'inherit', child })
    await run.checkpoint()
    return answerOf<T>(child, done)
  }

  /**
   * Calls `turn` for each item of a list, or a number of times, one after another. A later run continues with the item
   * at which the previous run stopped.
   */
  each<T = number>(
    name: string,
    list: number | readonly T[],
    turn: (item: T, at: Steps, index: number) => unknown,
  ): Promise<void> {
    return this.#run.waiting('each', this.#each(name, list, turn))
  }

  /** Each turn removes its records at its end, so that the last of a thousand turns costs as much as the first. */
  async #each<T>(
    name: string,
    list: number | readonly T[],
    turn: (item: T, at: Steps, index: number) => unknown,
  ): Promise<void> {
    const count = typeof list === 'number' ? list : list.length
    const asked: Asked = { kind: 'each' }
    const { key, known } = await this.#wait(name, { name }, asked)
    if (!known) await this.#run.steps.beforeNew(this.#scope, waitText(key, asked))
    for (let i = known?.next ?? 0; i < count; i++) {
      const scope = `${key}[${i}]/`
      await turn((typeof list === 'number' ? i : list[i]) as T, new Steps(this.#run, scope), i)
      this.#run.steps.forget(scope)
      this.#run.steps.keep(key, { ...asked, next: i + 1 })
    }
  }

  /** Runs branches concurrently, at most `limit` at a time, and returns their results in order. */
  parallel<const B extends readonly Branch[]>(branches: B, options: ParallelOptions = {}): Promise<Results<B>> {
    return this.#run.waiting('parallel', this.#parallel(branches, options))
  }

  async #parallel<const B extends readonly Branch[]>(
    branches: B,
    { limit = branches.length, ...named }: ParallelOptions,
  ): Promise<Results<B>> {
    const key = await this.#keyOf('parallel', named, (key) =>
      [...this.#run.steps.unasked().keys()].some((open) => open.startsWith(`${key}[`)),
    )
    const results: unknown[] = []
    let next = 0
    let broken = false
    const walk = async () => {
      while (next < branches.length && !broken) {
        const i = next++
        results[i] = await branches[i]!(new Steps(this.#run, `${key}[${i}]/`))
      }
    }
    const walkers = Array.from({ length: Math.min(Math.max(1, limit), branches.length) }, walk)
    await Promise.all(walkers).catch((error) => {
      broken = true
      this.#run.steps.abandon(`${key}[`)
      throw error
    })
    return results as Results<B>
  }

  async #wait(kind: string, named: Named, asked: Asked): Promise<{ key: string; known: Waited | undefined }> {
    const run = this.#run
    const key = await this.#keyOf(kind, named, (key) => {
      const open = run.steps.unasked().get(key)
      return open !== undefined && !differs(decodeValue(open) as Waited, asked)
    })
    const kept = await run.steps.kept(key)
    const known = kept === undefined ? undefined : (decodeValue(kept) as Waited)
    if (known && differs(known, asked)) await run.steps.report(changeOf(key, known, asked))
    return { key, known }
  }

  /** `~sleep#2` is the key of the second sleep in this run. */
  async #keyOf(kind: string, { as, name = as }: Named, isOpen: (key: string) => boolean): Promise<string> {
    const run = this.#run
    const place = this.#scope || RESERVED
    const base = place + kind
    if (name === undefined) return `${base}#${run.use(base)}`
    const key = place + name
    if (name.startsWith(RESERVED))
      throw new Terminal(`a wait cannot be named ${name}: expected a name that does not begin with ${RESERVED}`)
    if (run.use(key) > 1) throw new Terminal(`two waits in one run are named ${name}: give each its own name`)
    if ((await run.steps.kept(key)) !== undefined || isOpen(key) || !isOpen(`${base}#${run.uses(base) + 1}`)) return key
    return `${base}#${run.use(base)}`
  }
}

// What a function does once, and what it waits for: each helper keeps what came of it under a key of its own, so that
// the function, called anew in the job's next run, gets it again at once and goes on behind it.

import type { CodeChange } from '../../core/code-change.ts'
import { decodeValue, type Encoded } from '../../core/codec/value.ts'
import type { Op } from '../../core/run.ts'
import { type Length, milliseconds } from '../../core/time.ts'
import { Terminal } from '../../core/worker.ts'
import { type Asked, differs, type Waited, waitText } from './code-change.ts'
import type { SpawnOptions } from './options.ts'
import type { Pause } from './pause.ts'

/** What an ended child left: its result, or its error. */
export type ChildEnd = { result?: Encoded; error?: Encoded }

/** What helpers need of the run that they are in. */
export type RunAccess = {
  queue: string
  /** Milliseconds, by the clock of the state. */
  now: () => number
  kept: (key: string) => Promise<Encoded | undefined>
  keep: (key: string, value: unknown) => void
  /** Nobody will ask for these again: all whose keys begin so. */
  forget: (prefix: string) => void
  /** Runs `action` under a key, once. */
  once: <T>(scope: string, key: string, action: () => T | Promise<T>) => Promise<T>
  /** Called before something new is done in a scope. Never settles if the run fails because its code changed. */
  beforeNew: (scope: string, asked: string) => Promise<void>
  /** An error has ended the branches whose keys begin so. */
  abandon: (prefix: string) => void
  /** A kept wait is another one than the function asks for. Never settles if the run fails. */
  report: (change: CodeChange) => Promise<void>
  /** A helper that waits, as the function gets it. */
  waiting: <T>(helper: string, work: Promise<T>) => Promise<T>
  op: (op: Op) => void
  spawn: (name: string, worker: { queue?: string; class: string }, options: SpawnOptions) => void
  commit: () => Promise<void>
  /** A value of an input port as the port's schema has it. */
  checked: (port: string, value: unknown) => unknown
  /** Takes the next value of an input port, if one waits. */
  take: (port: string) => Promise<{ data: Encoded } | undefined>
  /** A child that has ended; 'open' as long as it has not, undefined when there is none. */
  heir: (child: string) => ChildEnd | 'open' | undefined
  /** Ends the run as soon as nothing else goes on in it. Never settles: the next run comes back to it. */
  pause: (what: Pause) => Promise<never>
  /** How often a key has been used in this run, this time included. */
  use: (key: string) => number
}

export type CallOptions = Omit<SpawnOptions, 'args' | 'keepResult'> & { as?: string }

/** The job that was called has failed, or was ended by others. */
export class CallFailed extends Terminal {}

/** What keys of ours begin with. */
export const OURS = '~'

/** Long enough for whoever called, and is kept from asking: a queue that is paused. */
const KEPT = 30 * 86_400_000

/** One way of several; what it waits for, it waits for by itself. */
export type Branch<T = unknown> = (at: Steps) => T | Promise<T>

export type Results<B extends readonly Branch[]> = { -readonly [K in keyof B]: Awaited<ReturnType<B[K]>> }

type Called = Exclude<Waited['done'], true | undefined>

const isChannel = (name: string): boolean => name.startsWith('/')

/** The port on which the messages for one wait come, which no other wait of the job has. */
function portFor(key: string): string {
  let hash = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(key))
    hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn
  return `wait_${hash.toString(36)}`
}

/** Whether a port was made for one wait for messages. */
export const isForMessages = (port: string): boolean => /^wait_[0-9a-z]{1,13}$/.test(port)

const opened = ({ result, error }: ChildEnd): Called => ({
  ...(result === undefined ? {} : { result: decodeValue(result) }),
  ...(error === undefined ? {} : { error: decodeValue(error) as { message?: string } }),
})

const GONE: Called = { error: { message: 'is gone, and has left nothing' } }

function answerOf<T>(child: string, { result, error }: Called): T {
  if (error)
    throw new CallFailed(`${child}: ${error.message ?? 'ended before it had completed'}`, { detail: error.detail })
  return result as T
}

/**
 * The helpers of a function, or of one of its branches, whose keys are its own.
 *
 * @example
 * await job.step('charge', () => charge(order))
 * await job.sleep('3 days')
 * const answer = await job.waitFor('answer', { timeout: '1 week' })
 */
export class Steps {
  readonly #desk: RunAccess
  readonly #scope: string

  constructor(desk: RunAccess, scope = '') {
    this.#desk = desk
    this.#scope = scope
  }

  /** Runs `action` once: its result is committed, with all that it did to the job, and given again ever after. */
  step<T>(name: string, action: () => T | Promise<T>): Promise<T> {
    if (name.startsWith(OURS)) throw new Terminal(`a step cannot be called ${name}: expected a name without ${OURS}`)
    return this.#desk.once(this.#scope, this.#scope + name, action)
  }

  /** Continues after a time (milliseconds, or a text like '3 days'), or at a date. */
  sleep(length: Length | Date, { as }: { as?: string } = {}): Promise<void> {
    return this.#desk.waiting('sleep', this.#sleep(length, as))
  }

  async #sleep(length: Length | Date, as?: string): Promise<void> {
    const desk = this.#desk
    const key = this.#key('sleep', as)
    const asked: Asked = { kind: 'sleep', ...(length instanceof Date ? {} : { ms: milliseconds(length) }) }
    const known = await this.#known(key, asked)
    const until = known?.until ?? (length instanceof Date ? length.getTime() : desk.now() + asked.ms!)
    if (desk.now() >= until) return
    await desk.beforeNew(this.#scope, waitText(key, asked))
    if (!known) desk.keep(key, { ...asked, until })
    return desk.pause({ until })
  }

  /** The next value of an input port, or message of a channel (`/orders/7`); undefined when none comes in time. */
  waitFor<T = unknown>(name: string, options: { timeout?: Length; as?: string } = {}): Promise<T | undefined> {
    return this.#desk.waiting('waitFor', this.#waitFor<T>(name, options))
  }

  async #waitFor<T>(name: string, { timeout, as }: { timeout?: Length; as?: string }): Promise<T | undefined> {
    const desk = this.#desk
    const key = this.#key(name, as)
    const asked: Asked = { kind: 'waitFor', on: name, ...(timeout === undefined ? {} : { ms: milliseconds(timeout) }) }
    const known = await this.#known(key, asked)
    const port = isChannel(name) ? portFor(key) : name
    // Kept as it came: a schema may make of it what no value can be.
    const given = (value: unknown) => (value === undefined || isChannel(name) ? value : desk.checked(port, value)) as T
    if (known?.done) return given(known.value)
    await desk.beforeNew(this.#scope, waitText(key, asked))
    const found = await desk.take(port)
    const until = known ? known.until : asked.ms === undefined ? undefined : desk.now() + asked.ms
    if (!found && (until === undefined || desk.now() < until)) {
      if (!known) desk.keep(key, { ...asked, until })
      if (!known && isChannel(name)) desk.op({ op: 'amend', in: { [port]: { channels: [name] } } })
      return desk.pause({ until })
    }
    const value = found && decodeValue(found.data)
    const answer = given(value)
    desk.keep(key, { ...asked, done: true, value })
    if (known && isChannel(name)) desk.op({ op: 'amend', drop: { in: [port] } })
    await desk.commit()
    return answer
  }

  /** Makes a child, and answers its result when it has completed; throws `CallFailed` when it ends otherwise. */
  callWorker<T = unknown>(
    worker: string | { queue?: string; class: string },
    args?: unknown,
    options: CallOptions = {},
  ): Promise<T> {
    return this.#desk.waiting('callWorker', this.#callWorker<T>(worker, args, options))
  }

  async #callWorker<T>(
    worker: string | { queue?: string; class: string },
    args: unknown,
    { as, ...options }: CallOptions,
  ): Promise<T> {
    const desk = this.#desk
    const called = typeof worker === 'string' ? { queue: desk.queue, class: worker } : worker
    const key = this.#key(called.class, as)
    const child = key.slice(OURS.length)
    const asked: Asked = { kind: 'callWorker', class: called.class }
    const known = await this.#known(key, asked)
    if (known?.done) return answerOf<T>(child, known.done as Called)
    await desk.beforeNew(this.#scope, waitText(key, asked))
    const heir = known && desk.heir(child)
    if (!known) {
      desk.keep(key, asked)
      desk.spawn(child, called, { ...options, args, keepResult: KEPT })
    }
    if (!known || heir === 'open') return desk.pause({ child })
    const done = heir ? opened(heir) : GONE
    desk.keep(key, { ...asked, done })
    if (heir) desk.op({ op: 'inherit', child })
    await desk.commit()
    return answerOf<T>(child, done)
  }

  /**
   * Does `turn` for each item of a list, or n times, one after the other. The position is kept; the records of a turn
   * are removed at its end, so that the last turn of a thousand costs as much as the first.
   */
  each<T = number>(
    name: string,
    list: number | readonly T[],
    turn: (item: T, at: Steps, index: number) => unknown,
  ): Promise<void> {
    return this.#desk.waiting('each', this.#each(name, list, turn))
  }

  async #each<T>(
    name: string,
    list: number | readonly T[],
    turn: (item: T, at: Steps, index: number) => unknown,
  ): Promise<void> {
    const key = this.#key(name, name)
    const count = typeof list === 'number' ? list : list.length
    const asked: Asked = { kind: 'each' }
    const known = await this.#known(key, asked)
    if (!known) await this.#desk.beforeNew(this.#scope, waitText(key, asked))
    for (let i = known?.next ?? 0; i < count; i++) {
      const scope = `${key}[${i}]/`
      await turn((typeof list === 'number' ? i : list[i]) as T, new Steps(this.#desk, scope), i)
      this.#desk.forget(scope)
      this.#desk.keep(key, { ...asked, next: i + 1 })
    }
  }

  /** Runs branches at the same time, at most `limit` of them; answers their results in order. */
  parallel<const B extends readonly Branch[]>(
    branches: B,
    options: { limit?: number; as?: string } = {},
  ): Promise<Results<B>> {
    return this.#desk.waiting('parallel', this.#parallel(branches, options))
  }

  async #parallel<const B extends readonly Branch[]>(
    branches: B,
    { limit = branches.length, as }: { limit?: number; as?: string },
  ): Promise<Results<B>> {
    const key = this.#key('parallel', as)
    const results: unknown[] = []
    let next = 0
    let broken = false
    const walk = async () => {
      while (next < branches.length && !broken) {
        const i = next++
        results[i] = await branches[i]!(new Steps(this.#desk, `${key}[${i}]/`))
      }
    }
    const walkers = Array.from({ length: Math.min(Math.max(1, limit), branches.length) }, walk)
    await Promise.all(walkers).catch((error) => {
      broken = true
      this.#desk.abandon(`${key}[`)
      throw error
    })
    return results as Results<B>
  }

  /** The kept record of a wait. It differs from the request only if the code of the function changed. */
  async #known(key: string, asked: Asked): Promise<Waited | undefined> {
    const kept = await this.#desk.kept(key)
    const known = kept === undefined ? undefined : (decodeValue(kept) as Waited)
    if (known && differs(known, asked))
      await this.#desk.report({ kept: waitText(key, known), asked: waitText(key, asked) })
    return known
  }

  /** `~sleep#2` for the second of its kind in this run; a name that was given is used once. */
  #key(kind: string, as?: string): string {
    const base = `${this.#scope || OURS}${as ?? kind}`
    const n = this.#desk.use(base)
    if (as?.startsWith(OURS)) throw new Terminal(`a wait cannot be called ${as}: expected a name without ${OURS}`)
    if (as === undefined) return `${base}#${n}`
    if (n > 1) throw new Terminal(`two waits of one run are called ${as}: give each a name of its own`)
    return base
  }
}

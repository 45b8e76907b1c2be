import { decodeValue } from '../../core/codec/value.ts'
import type { Snapshot, Wiring } from '../../core/run.ts'
import { NAMESPACE } from '../../core/tenant.ts'
import type { Ports } from '../../core/worker.ts'
import type { RunParts } from './parts.ts'
import { Steps } from './steps.ts'
import { checkedBy, type Name } from './values.ts'

export abstract class JobFacts<In extends Ports, Out extends Ports, Args> extends Steps {
  readonly id: number
  readonly #parts: RunParts
  readonly #stop: { readonly signal: AbortSignal }

  constructor(parts: RunParts, stop: { readonly signal: AbortSignal }) {
    super(parts)
    this.id = parts.snapshot.job.id
    this.#parts = parts
    this.#stop = stop
  }

  /**
   * Stop all work if this aborts: the run timed out, the job must end, or another worker has taken the run. With
   * `isolate`, it aborts only at the timeout and at a refused checkpoint.
   */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  /**
   * Variables, secrets and bindings of the Worker, with the types of `wrangler types`.
   *
   * @example await fetch(url, { headers: { authorization: job.env.STRIPE_KEY } })
   */
  get env(): Cloudflare.Env {
    return (this.#parts.tools.env ?? {}) as Cloudflare.Env
  }

  get args(): Args {
    const { args } = this.#parts.snapshot.job
    const value = args === null ? null : decodeValue(args)
    const { shapes } = this.#parts
    return checkedBy(shapes, 'args', shapes.args, value, `args of job ${this.id}`) as Args
  }
  get name(): string | null {
    return this.#parts.snapshot.job.name
  }
  get class(): string {
    return this.#parts.snapshot.job.class
  }
  get queue(): string {
    return this.#parts.snapshot.job.queue
  }
  get parent(): { id: number; name: string } | null {
    return this.#parts.snapshot.job.parent
  }
  get attempt(): number {
    return this.#parts.snapshot.run.attempt
  }
  get lost(): number {
    return this.#parts.snapshot.run.lost
  }
  get createdBy(): string {
    return this.#parts.snapshot.job.createdBy
  }
  get labels(): Record<string, string> {
    return this.#parts.snapshot.job.labels ?? {}
  }
  get createdAt(): Date {
    return new Date(this.#parts.snapshot.job.createdAt)
  }
  /** Start of this run, by Redis' clock, which `at` also uses. */
  get startedAt(): Date {
    return new Date(this.#parts.snapshot.run.startedAt)
  }
  /**
   * The slot of this run, even if the run started late. Null if a caller or an input caused the run.
   *
   * @example const day = job.scheduledFor?.toISOString().slice(0, 10)
   */
  get scheduledFor(): Date | null {
    const { scheduledFor } = this.#parts.snapshot.run
    return scheduledFor === undefined ? null : new Date(scheduledFor)
  }
  /**
   * An idempotency key for calls to other systems, the same on every attempt. Other deployments and tenants have other
   * keys.
   */
  effectKey(what = ''): string {
    const { job, run } = this.#parts.snapshot
    // After a failover, Redis may reuse the ids of the last few seconds, so the key also contains the time.
    const name = `${job.id}-${job.createdAt.toString(36)}`
    return `${this.#parts.tools.namespace ?? NAMESPACE}${name}:${run.token.split('.')[1]}:${what}`
  }

  /** Names of the input ports, in byte order. Useful for classes with a `*` port. */
  inPorts(): Name<In>[] {
    return Object.keys(this.#parts.snapshot.in).sort() as Name<In>[]
  }
  outPorts(): Name<Out>[] {
    return Object.keys(this.#parts.snapshot.out).sort() as Name<Out>[]
  }

  /** Children when the run last read them: at its start, at a checkpoint, or in `allChildren` or `readChildren`. */
  get children(): Snapshot['children'] {
    return this.#parts.snapshot.children
  }

  /** Empty unless the job follows its children. */
  get wires(): Wiring[] {
    return this.#parts.snapshot.wires ?? []
  }
}

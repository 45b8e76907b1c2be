import { decodeValue } from '../../core/codec/value.ts'
import { lastingName } from '../../core/lasting.ts'
import type { Snapshot, Wiring } from '../../core/run.ts'
import { NAMESPACE } from '../../core/tenant.ts'
import type { Ports } from '../../core/worker.ts'
import { type RunAccess, Steps } from './steps.ts'
import { checkedBy, type Name, type Shapes } from './values.ts'

type Given = { shapes: Shapes; env?: unknown; namespace?: string; stop: { readonly signal: AbortSignal } }

export abstract class JobFacts<In extends Ports, Out extends Ports, Args> extends Steps {
  readonly id: number
  readonly #run: { readonly snapshot: Snapshot }
  readonly #given: Given

  constructor(run: { readonly snapshot: Snapshot }, given: Given, access: () => RunAccess) {
    super(access)
    this.id = run.snapshot.job.id
    this.#run = run
    this.#given = given
  }

  /** Stop all work if this aborts: the run timed out, the job must end, or another worker has taken the run. */
  get signal(): AbortSignal {
    return this.#given.stop.signal
  }

  /**
   * Variables, secrets and bindings of the Worker, with the types of `wrangler types`.
   *
   * @example await fetch(url, { headers: { authorization: job.env.STRIPE_KEY } })
   */
  get env(): Cloudflare.Env {
    return (this.#given.env ?? {}) as Cloudflare.Env
  }

  get args(): Args {
    const { args } = this.#run.snapshot.job
    const value = args === null ? null : decodeValue(args)
    const { shapes } = this.#given
    return checkedBy(shapes, 'args', shapes.args, value, `args of job ${this.id}`) as Args
  }
  get name(): string | null {
    return this.#run.snapshot.job.name
  }
  get class(): string {
    return this.#run.snapshot.job.class
  }
  get queue(): string {
    return this.#run.snapshot.job.queue
  }
  get parent(): { id: number; name: string } | null {
    return this.#run.snapshot.job.parent
  }
  get attempt(): number {
    return this.#run.snapshot.run.attempt
  }
  get lost(): number {
    return this.#run.snapshot.run.lost
  }
  get createdBy(): string {
    return this.#run.snapshot.job.createdBy
  }
  get labels(): Record<string, string> {
    return this.#run.snapshot.job.labels ?? {}
  }
  get createdAt(): Date {
    return new Date(this.#run.snapshot.job.createdAt)
  }
  /** Start of this run, by Redis' clock, which `at` also uses. */
  get startedAt(): Date {
    return new Date(this.#run.snapshot.run.startedAt)
  }
  /**
   * The slot of this run, even if the run started late. Null if a caller or an input caused the run.
   *
   * @example const day = job.scheduledFor?.toISOString().slice(0, 10)
   */
  get scheduledFor(): Date | null {
    const { scheduledFor } = this.#run.snapshot.run
    return scheduledFor === undefined ? null : new Date(scheduledFor)
  }
  /**
   * An idempotency key for calls to other systems, the same on every attempt. Other deployments and tenants have other
   * keys.
   */
  effectKey(what = ''): string {
    const { job, run } = this.#run.snapshot
    return `${this.#given.namespace ?? NAMESPACE}${lastingName(job)}:${run.token.split('.')[1]}:${what}`
  }

  /** Names of the input ports, in byte order. Useful for classes with a `*` port. */
  inPorts(): Name<In>[] {
    return Object.keys(this.#run.snapshot.in).sort() as Name<In>[]
  }
  outPorts(): Name<Out>[] {
    return Object.keys(this.#run.snapshot.out).sort() as Name<Out>[]
  }

  /** Children at the start of the run, up to about a thousand. */
  get children(): Snapshot['children'] {
    return this.#run.snapshot.children
  }

  /** Empty unless the job follows its children. */
  get wires(): Wiring[] {
    return this.#run.snapshot.wires ?? []
  }
}

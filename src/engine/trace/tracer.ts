// All ids are derived from the root job, so Redis stores only the caller's `traceparent`.

import { decodeValue, type Encoded } from '../../core/codec/value.ts'
import {
  isSampled,
  readTraceparent,
  type Span,
  spanIdOf,
  type TraceContext,
  traceIdOf,
  traceparentOf,
} from '../../core/trace.ts'
import { createdAtOf, type JobRecord, parentOf } from '../../redis/record.ts'
import type { ClaimedJob } from '../../redis/types.ts'
import { slotOf } from '../jobs/slot.ts'
import type { Exporter } from './exporter.ts'

type TracerOptions = {
  seed: string
  share: number
  exporter: Exporter
  now: () => number
}

const rootOf = (id: number, { callbackRoot, callbackOf, rootAndLevel }: JobRecord): string =>
  callbackRoot ?? callbackOf ?? rootAndLevel?.split(',')[0] ?? String(id)

/** Ignores lost and released runs, because they sent no spans. */
const isFirst = ({ lastRun = '', startedUp, failures, repeats }: JobRecord): boolean =>
  !failures && (repeats !== undefined || (!startedUp && (lastRun === '' || /,(lost|released),/.test(lastRun))))

type Ended = {
  attempt: number
  version?: string
  outcome: string
  /** In milliseconds. */
  ms: number
  error?: { message: string; stack?: string }
}

export const MAX_LINKS = 100

/** A trace over months would be too long, so each slot of a schedule has its own trace. */
type Traced = { traceId: string; given?: TraceContext; slot: string }

function tracedOf({ id, document }: ClaimedJob, seed: string): Traced {
  const given = document.traceparent === undefined ? undefined : readTraceparent(document.traceparent)
  const slot = document.repeats === undefined ? '' : ` at ${slotOf(document).scheduledFor ?? document.token}`
  return { traceId: given?.traceId ?? traceIdOf(`${seed} root ${rootOf(id, document)}${slot}`), given, slot }
}

export class RunTrace {
  readonly traceId: string
  readonly jobSpan: string
  readonly runSpan: string
  readonly parent: string | undefined
  readonly spans: Span[] = []
  readonly #links = new Map<string, TraceContext>()
  readonly #claimed: ClaimedJob
  readonly #derives: boolean
  readonly #now: () => number
  readonly #began: number

  constructor(
    claimed: ClaimedJob,
    { traceId, given, slot }: Traced,
    { seed, now }: Pick<TracerOptions, 'seed' | 'now'>,
  ) {
    const { id, document } = claimed
    const spanOf = (job: string | number) => spanIdOf(`${seed} job ${job}`)
    const above = document.callbackOf ?? parentOf(document)?.id
    const spanAbove = above === undefined ? undefined : spanOf(above)
    this.traceId = traceId
    this.jobSpan = spanOf(`${id}${slot}`)
    this.runSpan = spanIdOf(`${seed} run ${document.token}`)
    this.parent = document.callbackOf ? spanAbove : (given?.spanId ?? spanAbove)
    this.#claimed = claimed
    this.#derives = !given && slot === ''
    this.#now = now
    this.#began = now()
  }

  get traceparent(): string {
    return this.#header(this.runSpan)
  }

  get ofJob(): string {
    return this.#header(this.jobSpan)
  }

  get forChildren(): string | undefined {
    return this.#derives ? undefined : this.ofJob
  }

  async span<T>(name: string, action: (traceparent: string) => T | Promise<T>, kind: Span['kind'] = 'internal') {
    const start = this.#now()
    const spanId = spanIdOf(`${this.runSpan} ${this.spans.length} ${name}`)
    const span: Span = { ...this.#base(spanId, this.runSpan), name, kind, start, end: start, attributes: {} }
    this.spans.push(span)
    try {
      return await action(this.#header(spanId))
    } catch (error) {
      const { message = String(error), stack } = (error ?? {}) as Partial<Error>
      span.error = { message, ...(stack ? { stack } : {}) }
      throw error
    } finally {
      span.end = this.#now()
    }
  }

  link(context: Encoded): void {
    const { traceparent } = (decodeValue(context) ?? {}) as { traceparent?: string }
    const writer = readTraceparent(traceparent)
    if (writer && this.#links.size < MAX_LINKS) this.#links.set(writer.spanId, writer)
  }

  #header(spanId: string): string {
    return traceparentOf({ traceId: this.traceId, spanId, isSampled: true })
  }

  #base(spanId: string, parent: string | undefined): Pick<Span, 'traceId' | 'spanId' | 'parent'> {
    return { traceId: this.traceId, spanId, ...(parent ? { parent } : {}) }
  }

  get #attributes() {
    const { id, document } = this.#claimed
    return { 'sidejob.job': id, 'sidejob.queue': document.queue, 'sidejob.class': document.class }
  }

  queued(): Span[] {
    const { document } = this.#claimed
    if (!isFirst(document)) return []
    const start = Number.parseInt(document.sequence, 16) / 1_000
    const attributes = {
      ...this.#attributes,
      'sidejob.created': new Date(createdAtOf(document)).toISOString(),
    }
    const base = this.#base(this.jobSpan, this.parent)
    return [{ ...base, name: `queue ${document.class}`, kind: 'producer', start, end: this.#began, attributes }]
  }

  ended({ attempt, version, outcome, ms, error }: Ended): Span[] {
    const attributes = {
      ...this.#attributes,
      'sidejob.attempt': attempt,
      'sidejob.version': version,
      'sidejob.outcome': outcome,
    }
    const run: Span = {
      ...this.#base(this.runSpan, this.jobSpan),
      name: `run ${this.#claimed.document.class}`,
      kind: 'consumer',
      start: this.#began,
      end: this.#began + ms,
      attributes,
      links: [...this.#links.values()].map(({ traceId, spanId }) => ({ traceId, spanId })),
      ...(error ? { error } : {}),
    }
    return [...this.queued(), run, ...this.spans]
  }
}

export function createTracer({ seed, share, exporter, now }: TracerOptions) {
  function begin(claimed: ClaimedJob): RunTrace | undefined {
    const traced = tracedOf(claimed, seed)
    const { traceId, given } = traced
    const isSent = given ? given.isSampled : isSampled(traceId, share)
    return isSent ? new RunTrace(claimed, traced, { seed, now }) : undefined
  }

  return {
    begin,
    send: exporter.add,
    lane({ id, queue, began, runs }: { id: string; queue: string; began: number; runs: readonly RunTrace[] }): void {
      if (runs.length === 0) return
      const links = runs.map(({ traceId, runSpan }) => ({ traceId, spanId: runSpan }))
      exporter.add([
        {
          traceId: traceIdOf(`${seed} lane ${id}`),
          spanId: spanIdOf(`${seed} lane ${id} ${began}`),
          name: `lane ${queue}`,
          kind: 'server',
          start: began,
          end: now(),
          attributes: { 'sidejob.queue': queue, 'sidejob.lane': id },
          links,
        },
      ])
    },
  }
}

export type Tracer = ReturnType<typeof createTracer>

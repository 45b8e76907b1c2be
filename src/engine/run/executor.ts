import type { Encoded } from '../../core/codec/value.ts'
import { isOutage, type Skew } from '../../core/errors.ts'
import { faultText } from '../../core/issues.ts'
import type { Path } from '../../core/json-schema/schema.ts'
import type { Changes } from '../../core/run.ts'
import { createSlots, type Slots } from '../../core/slots.ts'
import { outcomeSent, type RunOutcome, type SentOutcome } from '../../redis/changes.ts'
import { says } from '../../redis/ops.ts'
import type { Store } from '../../redis/store.ts'
import type { ClaimedJob, Ring } from '../../redis/types.ts'
import { faultInJob, schemaOfClass, skewOf } from '../jobs/checks.ts'
import { LAST, outcomeOf, released, returned, skipped } from '../jobs/outcome.ts'
import { callsOthers, longestRun, performedBy, type Registered, type Registry, timeoutOf } from '../jobs/registry.ts'
import { createCircuitBreakers, delayUntil, endpointOf, PUSHED } from '../remote/circuit-breaker.ts'
import { type PushOptions, push } from '../remote/push.ts'
import type { Versions } from '../remote/versions.ts'
import type { RunTrace, Tracer } from '../trace/tracer.ts'
import { OlderCode } from './code-change.ts'
import { createDeadlines, type Deadlines } from './deadlines.ts'
import { LostRun, runError, runFunction } from './function.ts'
import { createPinned, hasFailed } from './pinned.ts'
import { createReader } from './reader.ts'
import { keepsValues, Recording } from './recording.ts'
import { type RunHook, type RunReport, refusedReport, reportOf, startOf, type ToldOutcome } from './report.ts'
import { createRunTimes } from './run-time.ts'
import { adoptable, inputsOf, snapshotOf } from './snapshot.ts'
import { Stops } from './stops.ts'
import type { JobTools } from './tools.ts'

type ExecutorOptions = {
  store: Store
  registry: Registry
  push: PushOptions
  ring: (rings: Ring[]) => Promise<void>
  random: () => number
  now: () => number
  elapsed?: () => number
  isolate?: (lent: ClaimedJob) => Promise<SentOutcome | undefined>
  lease: number
  env?: unknown
  hook?: RunHook
  tracer?: Tracer
  locate?: (stack: string) => Promise<string>
  version?: string
  versions: Versions
}

const RELEASE_FOR = 10_000
const GONE: ReadonlySet<number> = new Set([404, 410])

/** If a lane has claimed a job whose class has just moved to pull workers, the job is released for this time. */
const MOVED_CLASS_MS = 1_000
/** Milliseconds until the first heartbeat of a push worker that answered 202. */
const LATER_LEASE_MS = 60_000

/** Only a third of the excess counts, because some lateness of a start is normal. */
const LATENESS = 3

/** Cloudflare allows 32 invocations per request. Two are left for the user's code. */
const MAX_ISOLATED = 30

const faulted = ({ code, message }: { code: string; message: string }): Changes => ({
  end: 'failed',
  n: LAST,
  error: { message: `${code}: ${message}`, ...(code === 'TOO_LARGE' ? { retry: false } : {}) },
})

/** Does not count requests of functions. */
export type Sent = { requests: number }

export type Usage = {
  isolated: number
  deadlines: Deadlines
  calls: Slots
  sent: Sent
  stops: Stops
  ends: number
  handsOn: boolean
}

export type RunOptions = { alone?: boolean; usage?: Usage; asked?: number }

type Means = { usage: Usage; trace: RunTrace | undefined }

type Running = { lent: ClaimedJob; found: Registered; stops: Stops; trace: RunTrace | undefined }

export const newUsage = ({
  calls = createSlots(),
  sent = { requests: 0 },
  ends = Number.POSITIVE_INFINITY,
}: Partial<Usage> = {}): Usage => ({
  isolated: 0,
  deadlines: createDeadlines(),
  calls,
  sent,
  stops: new Stops(),
  ends,
  handsOn: false,
})

const remedyOf = (id: number, [part, port, at]: Path): string => {
  const place = `/v1/jobs/${id}/in/${port}`
  if (part === 'args') return `change its args with PATCH /v1/jobs/${id}`
  return at === 'default'
    ? `change the default with PUT ${place}/default`
    : `take the value out with POST ${place}/read`
}

/** Errors of Cloudflare if it has no invocation for the run. */
const isUnavailable = (error: unknown): boolean =>
  /too many|invocations|internal error|connection lost|disconnected|has been updated/i.test(String(error))

export function createExecutor({
  store,
  registry,
  push: pushing,
  ring,
  random,
  now,
  elapsed = () => performance.now(),
  isolate,
  lease,
  env,
  hook,
  tracer,
  locate,
  version,
  versions,
}: ExecutorOptions) {
  const breakers = createCircuitBreakers({ store, shut: async () => undefined })
  const pace = createRunTimes()
  const reader = createReader(store)
  const pinned = createPinned({ store, versions, breakers })

  const deciding = (lent: ClaimedJob, found?: Registered, trace?: RunTrace) => ({
    document: lent.document,
    vault: store.vault,
    retry: found?.definition.retry,
    by: found && performedBy(found),
    reach: found?.definition.reach,
    pinsTo: found && pinned.pinOf(lent, found),
    found,
    registry,
    random,
    now: store.now(),
    traceparent: trace?.forChildren,
    writer: trace?.traceparent,
  })

  async function checkpoint(changes: Changes, { lent, found, stops, trace }: Running) {
    const settled = await outcomeOf(lent.document.token!, changes, deciding(lent, found, trace))
    const { answers, lent: fresh, rings } = await store.commit({ queue: '', runs: [settled] })
    await ring(rings)
    if (answers[0] !== 'running') {
      const why = `the checkpoint was refused: ${answers[0]}`
      stops.tell([lent.document.token!], why)
      throw new LostRun(why)
    }
    return snapshotOf(fresh[0]!, timeoutOf(found))
  }

  /** Creating closures for each run would cost more than a short run. */
  class Tools implements JobTools {
    readonly #running: Running
    constructor(running: Running) {
      this.#running = running
    }
    get #lent() {
      return this.#running.lent
    }
    get trace() {
      return this.#running.trace
    }
    get env() {
      return env
    }
    get namespace() {
      return store.namespace
    }
    checkpoint(changes: Changes) {
      return checkpoint(changes, this.#running)
    }
    page(port: string, after: number) {
      return reader.page(this.#lent.id, port, after)
    }
    peek(of: Parameters<JobTools['peek']>[0]) {
      return reader.peek(of)
    }
    steps() {
      return reader.steps(this.#lent.id)
    }
    children() {
      return reader.children(this.#lent.id)
    }
    now() {
      return now()
    }
    look(id: number) {
      return adoptable(store, id)
    }
    storedGraph(name: string) {
      return store.graph(name)
    }
    progress(value: Encoded) {
      const { queue, token } = this.#lent.document
      return store.extend(queue, [token!], lease, { progress: value })
    }
  }

  async function performLocal(
    lent: ClaimedJob,
    found: Registered,
    { usage: { deadlines, stops }, trace }: Means,
  ): Promise<RunOutcome | undefined> {
    const snapshot = snapshotOf(lent, timeoutOf(found))
    const tools = new Tools({ lent, found, stops, trace })
    const recording = keepsValues(found.local!) ? new Recording(snapshot) : undefined
    let changes: Changes
    try {
      changes = await runFunction(found.local!, snapshot, recording?.watched(tools) ?? tools, { deadlines, stops })
    } catch (error) {
      if (error instanceof LostRun) return undefined
      if (error instanceof OlderCode) return returned(lent, error.after, error.message)
      throw error
    }
    const stack = locate && changes.error?.stack
    const placed = stack ? { ...changes, error: { ...changes.error!, stack: await locate(stack) } } : changes
    const settled = await outcomeOf(lent.document.token!, placed, deciding(lent, found, trace))
    if (!recording) return settled
    const recorded = store.vault.seal(recording.text(changes), 'run')
    return { ...settled, words: [...settled.words, ...says.values({ recorded })] }
  }

  function spare(lent: ClaimedJob, host: string, until: number): RunOutcome {
    const message = `${host.slice(PUSHED.length)} keeps failing; next attempt after ${new Date(until).toISOString()}`
    return returned(lent, delayUntil(until, store.now(), random), message)
  }

  async function performRemote(
    lent: ClaimedJob,
    found: Registered,
    trace: RunTrace | undefined,
  ): Promise<RunOutcome | undefined> {
    const { pinnedTo } = lent.document
    const address = found.definition.push && { ...found.definition.push, ...(pinnedTo ? { url: pinnedTo } : {}) }
    if (!address) return released(lent, says.wait({ ms: found.definition.pull ? MOVED_CLASS_MS : RELEASE_FOR }))
    const host = endpointOf(address.url)
    const permit = await breakers.pass(host, hasFailed(lent))
    const silence = (why: string) => pinned.wait(lent, `the push worker at ${pinnedTo} ${why}`)
    if (permit.state === 'open') return pinnedTo ? silence('keeps failing') : spare(lent, host, permit.until!)
    const snapshot = snapshotOf(lent, timeoutOf(found), schemaOfClass(found))
    const call = (traceparent = lent.document.traceparent) => push(address, snapshot, { ...pushing, traceparent })
    const { changes, ...outcome } = await (trace
      ? trace.span(`POST ${new URL(address.url).host}`, call, 'client')
      : call())
    // The answer counts even if the circuit breaker cannot be updated.
    const after = await breakers.leave(host, permit, outcome).catch(() => permit)
    const isGone = outcome.unreached || GONE.has(outcome.status ?? 0)
    if (pinnedTo && isGone) return silence(outcome.unreached ? 'cannot be reached' : `answered ${outcome.status}`)
    // A failed trial call counts as a failure of its job, so a job that always fails ends eventually.
    if (outcome.down && after.state === 'open' && permit.state === 'closed') return spare(lent, host, after.until!)
    if (changes !== 'later')
      return outcomeOf(lent.document.token!, changes, { ...deciding(lent, found, trace), unreached: outcome.unreached })
    const { queue, token, redeliverAfterMs } = lent.document
    await store.extend(queue, [token!], redeliverAfterMs ?? LATER_LEASE_MS, { own: redeliverAfterMs !== undefined })
    return undefined
  }

  function misfit(lent: ClaimedJob, found: Registered): Promise<RunOutcome | undefined> | undefined {
    const skew = skewOf(found, lent.document.class, lent.document.schema)
    return skew && misfitOf(lent, found, skew)
  }

  /** Releases the job if only newer code can run it. */
  async function misfitOf(lent: ClaimedJob, found: Registered, skew: Skew): Promise<RunOutcome | undefined> {
    const { queue, class: name } = lent.document
    const faultFor = (one: Registered) => faultInJob(one, lent.document, inputsOf(lent), one)
    const fault = faultFor(found)
    if (!fault) return undefined
    const newest = (await registry.list(queue)).get(name)
    const isOlder = newest !== undefined && schemaOfClass(newest) !== skew.current
    const hashes = `Class ${name} has schema ${skew.current}, but job ${lent.id} was created for ${skew.built}`
    if (isOlder && !faultFor(newest)) return returned(lent, RELEASE_FOR, `${hashes}: only newer code can run it`)
    // A function checks its inputs when it reads them.
    if (found.local && fault.path[0] === 'inputs') return undefined
    const message = `SCHEMA_CHANGED: ${faultText(fault)}. ${hashes}: ${remedyOf(lent.id, fault.path)}, then retry it`
    return outcomeOf(lent.document.token!, { end: 'failed', n: LAST, error: { message, retry: false } }, deciding(lent))
  }

  function performFound(lent: ClaimedJob, found: Registered, means: Means & { alone: boolean }) {
    if (found.inner) return found.inner(lent, means.trace)
    if (!found.local) return performRemote(lent, found, means.trace)
    if (!found.local.isolate || !isolate || means.alone) return performLocal(lent, found, means)
    return performIsolated(lent, means.usage)
  }

  async function performIsolated(lent: ClaimedJob, usage: Usage): Promise<RunOutcome | undefined> {
    if (usage.isolated >= MAX_ISOLATED) return released(lent)
    usage.isolated++
    try {
      const settled = await isolate!(lent)
      return settled && outcomeSent(settled)
    } catch (error) {
      if (!isUnavailable(error)) throw error
      usage.isolated = MAX_ISOLATED
      return released(lent)
    }
  }

  /** Rate limits count from `asked`, the time of the claim. */
  async function runUnseen(
    lent: ClaimedJob,
    { alone = false, usage = newUsage(), asked }: RunOptions,
    trace?: RunTrace,
  ) {
    const { queue, class: name } = lent.document
    const passed = lent.document.slotMissed && skipped(lent.document, store.now())
    if (passed) return passed
    let leave: (() => void) | undefined
    try {
      if (lent.fault) return outcomeOf(lent.document.token!, faulted(lent.fault), deciding(lent))
      const found = registry.local(queue, name) ?? (await registry.find(queue, name))
      const isElsewhere = versions.isOther(lent.document)
      if (!found && !isElsewhere) return released(lent, [...says.unknown(), ...says.wait({ ms: RELEASE_FOR })])
      if (isElsewhere || callsOthers(found!)) {
        leave = await usage.calls.take()
        usage.sent.requests++
      }
      if (usage.ends !== Number.POSITIVE_INFINITY && elapsed() + longestRun(lent, found) > usage.ends) {
        usage.handsOn = true
        return released(lent)
      }
      const late = asked === undefined ? 0 : Math.max(0, Math.ceil(elapsed() - asked))
      const unfit = isElsewhere || found!.inner ? undefined : misfit(lent, found!)
      const settled =
        (unfit && (await unfit)) ??
        (await (isElsewhere ? pinned.perform(lent, found) : performFound(lent, found!, { alone, usage, trace })))
      if (!settled || asked === undefined) return settled
      settled.late = late
      if (!lent.document.heldLimits) return settled
      const excess = pace.excess(`${queue}/${name}`, asked, elapsed() - asked)
      settled.late = Math.max(late, Math.ceil(excess / LATENESS))
      return settled
    } catch (error) {
      if (isOutage(error)) throw error
      const changes: Changes = { end: 'failed', n: LAST, error: runError(error) }
      return outcomeOf(lent.document.token!, changes, deciding(lent))
    } finally {
      leave?.()
    }
  }

  async function runSeen(lent: ClaimedJob, options: RunOptions, trace?: RunTrace): Promise<ToldOutcome | undefined> {
    let settled: ToldOutcome | undefined
    const start = startOf(lent, versions.isOther(lent.document) ? lent.document.pinnedTo : version, trace)
    const perform = async (): Promise<RunReport | undefined> => {
      const began = elapsed()
      settled = await runUnseen(lent, options, trace)
      if (options.alone && trace) tracer!.send(trace.spans)
      if (!settled || options.alone) return undefined
      settled.report = reportOf(start, settled, elapsed() - began, store.vault)
      if (trace) settled.trace = trace
      return settled.report
    }
    await (hook ? hook(start, perform, lent.document.token) : perform())
    return settled
  }

  function run(lent: ClaimedJob, options: RunOptions = {}): Promise<ToldOutcome | undefined> {
    const trace = tracer?.begin(lent)
    return hook || trace ? runSeen(lent, options, trace) : runUnseen(lent, options)
  }

  async function tellCommitted(runs: readonly ToldOutcome[], answers: readonly string[]): Promise<void> {
    for (let i = 0; i < answers.length; i++) {
      const { report, trace } = runs[i]!
      if (!report) continue
      const answer = answers[i]!
      const refused = answer.startsWith('refused:') ? refusedReport(report, runs[i]!, answer) : undefined
      if (refused) await hook?.(report, async () => refused)
      if (trace && answer !== 'lost' && answer !== 'conflict') tracer?.send(trace.ended(refused ?? report))
    }
  }

  async function sound(lent: ClaimedJob[]): Promise<ClaimedJob[]> {
    const faulty = lent.filter(({ fault }) => fault)
    if (faulty.length === 0) return lent
    const runs = await Promise.all(faulty.map((one) => run(one)))
    const done = runs.filter((settled) => settled !== undefined)
    const { answers, rings } = await store.commit({ queue: '', runs: done, version })
    await tellCommitted(done, answers)
    await ring(rings)
    return lent.filter(({ fault }) => !fault)
  }

  return {
    version,
    run,
    tracer,
    tellCommitted,
    sound,
    misfit,
    page: reader.page,
    usedUp: ({ isolated, handsOn }: Usage) => handsOn || isolated >= MAX_ISOLATED,
  }
}

export type Executor = ReturnType<typeof createExecutor>

import { isOutage } from '../../core/errors.ts'
import { outcomeSent, type RunOutcome, type SentOutcome } from '../../redis/changes.ts'
import { says } from '../../redis/ops.ts'
import type { Store } from '../../redis/store.ts'
import type { ClaimedJob, Ring } from '../../redis/types.ts'
import { failedWith, RELEASE_MS, released, skipped } from '../jobs/outcome.ts'
import { callsOthers, longestRun, type Registered, type Registry } from '../jobs/registry.ts'
import { createCircuitBreakers } from '../remote/circuit-breaker.ts'
import type { PushOptions } from '../remote/push.ts'
import type { Versions } from '../remote/versions.ts'
import type { RunTrace, Tracer } from '../trace/tracer.ts'
import { createDecide } from './decide.ts'
import { runError } from './function.ts'
import { createLocal, type Means } from './local.ts'
import { createMisfit } from './misfit.ts'
import { createPinned } from './pinned.ts'
import { createPushed } from './pushed.ts'
import { type RunHook, type RunReport, refusedReport, reportOf, startOf, type ToldOutcome } from './report.ts'
import { createRunTimes } from './run-time.ts'
import { MAX_ISOLATED, newUsage, type Usage } from './usage.ts'

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

/** Only a third of the excess counts, because some lateness of a start is normal. */
const LATENESS = 3

const faultError = ({ code, message }: NonNullable<ClaimedJob['fault']>) => ({
  message: `${code}: ${message}`,
  ...(code === 'TOO_LARGE' ? { retry: false } : {}),
})

type RunOptions = { alone?: boolean; usage?: Usage; asked?: number }

/** Errors of Cloudflare if it has no invocation for the run. */
const isUnavailable = (error: unknown): boolean =>
  /too many|invocations|internal error|connection lost|disconnected|has been updated/i.test(String(error))

export function createExecutor(options: ExecutorOptions) {
  const { store, registry, ring, elapsed = () => performance.now(), isolate, hook, tracer, version, versions } = options
  const breakers = createCircuitBreakers({ store, shut: async () => undefined })
  const pinned = createPinned({ store, versions, breakers })
  const decide = createDecide({ ...options, pinOf: pinned.pinOf })
  const misfit = createMisfit({ registry, decide })
  const performLocal = createLocal({ ...options, decide })
  const performPushed = createPushed({ ...options, breakers, pinned, decide })
  const pace = createRunTimes()

  function performFound(lent: ClaimedJob, found: Registered, means: Means & { alone: boolean }) {
    if (found.inner) return found.inner(lent, means.trace)
    if (!found.local) return performPushed(lent, found, means.trace)
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
      if (lent.fault) return decide(lent, failedWith(faultError(lent.fault)))
      const found = registry.local(queue, name) ?? (await registry.find(queue, name))
      const isElsewhere = versions.isOther(lent.document)
      if (!found && !isElsewhere) return released(lent, [...says.unknown(), ...says.wait({ ms: RELEASE_MS })])
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
      return decide(lent, failedWith(runError(error)))
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
    const { answers, rings } = await store.commit({ runs: done, version })
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
  }
}

export type Executor = ReturnType<typeof createExecutor>

import { isOutage } from '../../core/errors.ts'
import { outcomeSent, type RunOutcome, type SentOutcome } from '../../redis/changes.ts'
import { setRun } from '../../redis/ops.ts'
import type { Store } from '../../redis/store.ts'
import type { ClaimedJob, Ring } from '../../redis/types.ts'
import { failedWith, RELEASE_MS, released, skipped } from '../jobs/outcome.ts'
import { callsOut, longestRun, type Registered, type Registry } from '../jobs/registry.ts'
import { createCircuitBreakers } from '../remote/circuit-breaker.ts'
import type { PushOptions } from '../remote/push.ts'
import type { Versions } from '../remote/versions.ts'
import type { RunTrace, Tracer } from '../trace/tracer.ts'
import { createDecide } from './decide.ts'
import { runError } from './function.ts'
import { createLocal, type RunContext } from './local.ts'
import { createMisfit } from './misfit.ts'
import { createPinned } from './pinned.ts'
import { createPushed } from './pushed.ts'
import { type ReportedOutcome, type RunHook, type RunReport, refusedReport, reportOf, startOf } from './report.ts'
import { createRunTimes } from './run-time.ts'
import { MAX_ISOLATED, newUsage, type Usage } from './usage.ts'

type ExecutorOptions = {
  store: Store
  registry: Registry
  push: PushOptions
  ring: (rings: Ring[]) => Promise<void>
  random: () => number
  now: () => number
  isolate?: (claimed: ClaimedJob) => Promise<SentOutcome | undefined>
  lease: number
  env?: unknown
  hook?: RunHook
  tracer?: Tracer
  locate?: (stack: string) => Promise<string>
  version?: string
  versions: Versions
}

/** Only a third of the excess counts, because some lateness of a start is normal. */
const EXCESS_DIVISOR = 3

const faultError = ({ code, message }: NonNullable<ClaimedJob['fault']>) => ({
  message: `${code}: ${message}`,
  ...(code === 'TOO_LARGE' ? { retry: false } : {}),
})

type RunOptions = { alone?: boolean; usage?: Usage; asked?: number }

/** Errors of Cloudflare if it has no invocation for the run. */
const isUnavailable = (error: unknown): boolean =>
  /too many|invocations|internal error|connection lost|disconnected|has been updated/i.test(String(error))

export function createExecutor(options: ExecutorOptions) {
  const { store, registry, ring, isolate, hook, tracer, version, versions } = options
  const breakers = createCircuitBreakers({ store, shut: async () => undefined })
  const pinned = createPinned({ store, versions, breakers })
  const decide = createDecide({ ...options, pinOf: pinned.pinOf })
  const misfit = createMisfit({ registry, decide })
  const performLocal = createLocal({ ...options, decide })
  const performPushed = createPushed({ ...options, breakers, pinned, decide })
  const pace = createRunTimes()

  function performFound(claimed: ClaimedJob, found: Registered, means: RunContext & { alone: boolean }) {
    if (found.inner) return found.inner(claimed, means.trace)
    if (!found.local) return performPushed(claimed, found, means.trace)
    if (!found.local.isolate || !isolate || means.alone) return performLocal(claimed, found, means)
    return performIsolated(claimed, means.usage)
  }

  async function performIsolated(claimed: ClaimedJob, usage: Usage): Promise<RunOutcome | undefined> {
    if (usage.isolated >= MAX_ISOLATED) return released(claimed)
    usage.isolated++
    try {
      const settled = await isolate!(claimed)
      return settled && outcomeSent(settled)
    } catch (error) {
      if (!isUnavailable(error)) throw error
      usage.isolated = MAX_ISOLATED
      return released(claimed)
    }
  }

  /** Rate limits count from `asked`, the time of the claim. */
  async function runUnseen(
    claimed: ClaimedJob,
    { alone = false, usage = newUsage(), asked }: RunOptions,
    trace?: RunTrace,
  ) {
    const { queue, class: name } = claimed.document
    const passed = claimed.document.slotMissed && skipped(claimed.document, store.now())
    if (passed) return passed
    let leave: (() => void) | undefined
    try {
      if (claimed.fault) return await decide(claimed, failedWith(faultError(claimed.fault)))
      const found = registry.local(queue, name) ?? (await registry.find(queue, name))
      const isElsewhere = versions.isOther(claimed.document)
      if (!found && !isElsewhere) return released(claimed, [...setRun.unknown(), ...setRun.wait({ ms: RELEASE_MS })])
      if (isElsewhere || callsOut(found!)) {
        leave = await usage.calls.take()
        usage.sent.requests++
      }
      if (usage.ends !== Number.POSITIVE_INFINITY && performance.now() + longestRun(claimed, found) > usage.ends) {
        usage.handsOver = true
        return released(claimed)
      }
      const late = asked === undefined ? 0 : Math.max(0, Math.ceil(performance.now() - asked))
      const unfit = isElsewhere || found!.inner ? undefined : misfit(claimed, found!)
      const settled =
        (unfit && (await unfit)) ??
        (await (isElsewhere ? pinned.perform(claimed, found) : performFound(claimed, found!, { alone, usage, trace })))
      if (!settled || asked === undefined) return settled
      settled.late = late
      if (!claimed.document.heldLimits) return settled
      const excess = pace.excess(`${queue}/${name}`, asked, performance.now() - asked)
      settled.late = Math.max(late, Math.ceil(excess / EXCESS_DIVISOR))
      return settled
    } catch (error) {
      if (isOutage(error)) throw error
      return decide(claimed, failedWith(runError(error)))
    } finally {
      leave?.()
    }
  }

  async function runSeen(
    claimed: ClaimedJob,
    options: RunOptions,
    trace?: RunTrace,
  ): Promise<ReportedOutcome | undefined> {
    let settled: ReportedOutcome | undefined
    const start = startOf(claimed, versions.isOther(claimed.document) ? claimed.document.pinnedTo : version, trace)
    const perform = async (): Promise<RunReport | undefined> => {
      const began = performance.now()
      settled = await runUnseen(claimed, options, trace)
      if (options.alone && trace) tracer!.send(trace.spans)
      if (!settled || options.alone) return undefined
      settled.report = reportOf(start, settled, performance.now() - began, store.vault)
      if (trace) settled.trace = trace
      return settled.report
    }
    await (hook ? hook(start, perform, claimed.document.token) : perform())
    return settled
  }

  function run(claimed: ClaimedJob, options: RunOptions = {}): Promise<ReportedOutcome | undefined> {
    const trace = tracer?.begin(claimed)
    return hook || trace ? runSeen(claimed, options, trace) : runUnseen(claimed, options)
  }

  async function tellCommitted(runs: readonly ReportedOutcome[], answers: readonly string[]): Promise<void> {
    for (let i = 0; i < answers.length; i++) {
      const { report, trace } = runs[i]!
      if (!report) continue
      const answer = answers[i]!
      const refused = answer.startsWith('refused:') ? refusedReport(report, runs[i]!, answer) : undefined
      if (refused) await hook?.(report, async () => refused)
      if (trace && answer !== 'lost' && answer !== 'conflict') tracer?.send(trace.ended(refused ?? report))
    }
  }

  async function failFaulty(claimed: ClaimedJob[]): Promise<ClaimedJob[]> {
    const faulty = claimed.filter(({ fault }) => fault)
    if (faulty.length === 0) return claimed
    const runs = await Promise.all(faulty.map((one) => run(one)))
    const done = runs.filter((settled) => settled !== undefined)
    const { answers, rings } = await store.commit({ runs: done, version })
    await tellCommitted(done, answers)
    await ring(rings)
    return claimed.filter(({ fault }) => !fault)
  }

  return {
    version,
    run,
    tracer,
    tellCommitted,
    failFaulty,
    misfit,
  }
}

export type Executor = ReturnType<typeof createExecutor>

import { CALLBACKS } from '../core/callback.ts'
import { type Prices, priceOf } from '../core/cost.ts'
import { hasCode, SidejobError } from '../core/errors.ts'
import type { Retry } from '../core/retry.ts'
import type { Worker } from '../core/worker.ts'
import { outcomeToSend, type SentOutcome } from '../redis/changes.ts'
import { type Client, createClient, type RedisOptions } from '../redis/client.ts'
import type { Words } from '../redis/ops.ts'
import { createStore, type Store } from '../redis/store.ts'
import type { ClaimedJob, Inspection, Ring } from '../redis/types.ts'
import { createVault } from '../redis/vault.ts'
import { createAlerts } from './api/alerts.ts'
import { createAudit } from './api/audit.ts'
import { createBreakers } from './api/breakers.ts'
import { BULK, createBulk, createBulkVerbs, FAMILY, walkFamily } from './api/bulk.ts'
import { createCallbackVerbs } from './api/callbacks.ts'
import { createChannels } from './api/channels.ts'
import { createRuns } from './api/claims.ts'
import { createConstraintVerbs } from './api/constraints.ts'
import { createCopies } from './api/copies.ts'
import { createDeliveries } from './api/deliveries.ts'
import { createDeployments } from './api/deployments.ts'
import { createDoctor } from './api/doctor.ts'
import { createErrors } from './api/errors.ts'
import { createFind } from './api/find.ts'
import { createRecording } from './api/flow-record.ts'
import { createFlows } from './api/flows.ts'
import { createGlance } from './api/glance.ts'
import { createHealth } from './api/health.ts'
import { createHistory, type HistoryOptions } from './api/history.ts'
import { createJobs, type Jobs } from './api/jobs.ts'
import { createKeys } from './api/keys.ts'
import { createLimits } from './api/limits.ts'
import { createLog } from './api/log.ts'
import { createPastRuns, spentAndRuns, storedRunsOf } from './api/past-runs.ts'
import { createPorts } from './api/ports.ts'
import { createProcesses } from './api/processes.ts'
import { createQueues } from './api/queues.ts'
import { createRecorded } from './api/recorded.ts'
import { createResults } from './api/results.ts'
import { createRunOne } from './api/run-one.ts'
import { createSchedules, type Schedules } from './api/schedules.ts'
import { createStats } from './api/stats.ts'
import { createTenants } from './api/tenants.ts'
import { createViews } from './api/views.ts'
import { createWaiting } from './api/waiting.ts'
import { createWorkers } from './api/workers.ts'
import { type Context, onceOf } from './context.ts'
import type { Call, JobView } from './engine.ts'
import { createClasses } from './jobs/classes.ts'
import { createConstraints } from './jobs/constraints.ts'
import { cronSetter } from './jobs/cron.ts'
import { quotaOf } from './jobs/new-job.ts'
import { createRegistry, type Registry } from './jobs/registry.ts'
import { type BellOptions, createBells } from './lane/bells.ts'
import { createDispatcher, type EagerLane } from './lane/dispatcher.ts'
import { type LaneOptions, laneDefaults } from './lane/lane-options.ts'
import { createLongPoll } from './lane/long-poll.ts'
import { createRinger, type Guest } from './lane/ringer.ts'
import { createTick } from './lane/tick.ts'
import { createCallbacks, type Payload } from './remote/callbacks.ts'
import { createRelay, RELAYS } from './remote/relay.ts'
import { createSigner } from './remote/sign.ts'
import { createVersions } from './remote/versions.ts'
import { createExecutor } from './run/executor.ts'
import { factsOf } from './run/job-facts.ts'
import type { RunHook } from './run/report.ts'
import { shownJob } from './run/shown.ts'
import { createExporter } from './trace/exporter.ts'
import { createTracer, type Tracer } from './trace/tracer.ts'

export const VERSION = '0.1.0'

export type TraceOptions = {
  /** Base URL of OTLP over HTTP, such as `https://api.honeycomb.io`. */
  endpoint: string
  headers?: Readonly<Record<string, string>>
  /** Share of traces to send, from 0 to 1 (default 1). */
  sample?: number
  /** `service.name` of all spans (default: `sidejob`). */
  service?: string
}

export type EngineOptions = {
  redis: RedisOptions | Client
  qstash: BellOptions
  workers?: readonly Worker[]
  /** Consecutive lost runs after which a job fails (default 10), unless its class sets `maxLost` or `isolate`. */
  maxLost?: number
  /** Number of runs to record per job, unless its class sets the number (default: the last ten failed or lost runs). */
  history?: number
  /** SQL database for ended jobs, and the number of days to keep them. */
  historyStore?: HistoryOptions
  namespace?: string
  apiKey?: string
  /** Secret for stream tokens and links, the same in all isolates. */
  tokenSecret?: string
  tenant?: string
  /** The secrets of push workers and callbacks are derived from these secrets. During a rotation, set two. */
  webhookSecrets?: readonly string[]
  /** If false, calls are signed only with the secret of their endpoint. */
  sharedSignature?: boolean
  allowHosts?: readonly string[]
  lane?: LaneOptions
  /** 'eager' starts the lane in the invocation that enqueues. */
  dispatch?: 'bell' | 'eager'
  /** Milliseconds by which tests move every clock. */
  clock?: () => number
  random?: () => number
  fetch?: typeof fetch
  /**
   * Keeps the invocation alive for background work. If absent, or if it returns false, the response waits for the work.
   */
  defer?: (work: Promise<unknown>) => unknown
  payloads?: Record<string, Payload>
  /** Keys of 32 bytes that encrypt args, state, values and results. The first key encrypts, and all keys decrypt. */
  encryptionKeys?: readonly Uint8Array[]
  isolate?: (claimed: ClaimedJob) => Promise<SentOutcome | undefined>
  retry?: Retry
  /** Value of `job.env` in functions. */
  env?: unknown
  hook?: RunHook
  traces?: TraceOptions
  /** Replaces positions in the bundle by positions in the project's files. */
  locate?: (stack: string) => Promise<string>
  /** Version of the deployed code, such as a commit hash, which each run records. */
  version?: string
  /** Address of exactly this version, for classes with `pin`. */
  versionUrl?: string
  /** Author of the deployed code, shown with the deployment. */
  author?: string
  /** Milliseconds until the classes of a replaced version are removed (default: 10 minutes). */
  grace?: number
  prices?: Prices
}

/** An internal job does its work in runs of at most this length. */
const SLICE_MS = 5_000

const withDefaults =
  ({ maxLost, history }: Pick<EngineOptions, 'maxLost' | 'history'>) =>
  (worker: Worker): Worker => ({
    ...(maxLost === undefined || worker.isolate ? {} : { maxLost }),
    ...(history === undefined ? {} : { history }),
    ...worker,
  })

function createTracerOf(
  { namespace = '', qstash, version, defer }: EngineOptions,
  { endpoint, headers, sample = 1, service = 'sidejob' }: TraceOptions,
  { fetch, now }: { fetch: typeof globalThis.fetch; now: () => number },
): Tracer {
  const resource = { 'service.name': service, 'service.version': version }
  const exporter = createExporter({ endpoint, headers, resource, fetch, defer, now })
  return createTracer({ seed: `${qstash.publicUrl} ${namespace}`, share: sample, exporter, now })
}

function announcing(registry: Registry, workers: readonly Worker[]) {
  // This flag is not a promise, because an invocation must not wait for requests of another invocation. After a restore
  // of Redis, the tick announces the classes again.
  let announced = false
  async function announce(known?: readonly string[]): Promise<void> {
    if (announced && !known) return
    try {
      await registry.announce(known)
    } catch (error) {
      // If Redis is full, calls continue without the announcement, because some of them delete jobs.
      if (hasCode(error, 'FULL')) return
      throw error
    }
    announced = true
  }

  const mustBeKnown = workers.some(({ concurrency, shutdown, pin }) => concurrency !== undefined || shutdown || pin)
  return {
    announce,
    /** Redis must know the limit of a class, its shutdown hook and the address of its version before the first run. */
    async announceBeforeRuns(queue?: string): Promise<void> {
      if (!mustBeKnown) return
      await announce()
      if (!announced && queue !== BULK.queue)
        throw new SidejobError('FULL', 'Redis is full: the classes of this deployment cannot be registered')
    },
  }
}

function viewing(store: Store, prices: Prices | undefined): Pick<Context, 'view' | 'viewWithRuns'> {
  const viewed = ({ id, document, ...more }: Inspection): JobView => ({
    ...shownJob(id, document, more),
    ...factsOf(document, { ...more, retain: store.retain }),
  })
  return {
    view: async (job) => viewed(await store.inspect(job)),
    async viewWithRuns(job) {
      const found = await store.inspect(job)
      const { spent, runs } = spentAndRuns(found.document, await storedRunsOf(store, found))
      const cost = { ...spent, price: prices ? priceOf(spent, prices) : null }
      return { job: { ...viewed(found), cost }, runs }
    },
  }
}

function assemble(options: EngineOptions) {
  const { clock = () => 0, random = Math.random, defer, tenant, qstash, payloads = {}, allowHosts = [] } = options
  const workers = (options.workers ?? []).map(withDefaults(options))
  const now = () => Date.now() + clock()
  const isTenant = tenant !== undefined
  const client = 'evaluate' in options.redis ? options.redis : createClient(options.redis)
  const vault = createVault({ keys: options.encryptionKeys ?? [], tenant })
  const { namespace, historyStore } = options
  const store = createStore({ client, namespace, clock, vault, retain: historyStore?.retain })
  const registry = createRegistry({
    ...options,
    store,
    workers,
    now,
    deployment: qstash.publicUrl,
    setCron: tenant ? undefined : cronSetter(() => ({ jobs, schedules })),
  })
  const bells = createBells(qstash)
  const signer = createSigner({ roots: options.webhookSecrets ?? [], shared: options.sharedSignature, tenant })
  const send = options.fetch ?? ((...args: Parameters<typeof fetch>) => fetch(...args))
  const outgoing = { fetch: send, signer, allowHosts, now }
  const callbacks = createCallbacks({ ...outgoing, store, registry, ring, random, payloads })
  registry.serve(CALLBACKS, { inner: callbacks.perform, calls: true, longest: callbacks.longest })
  const slices = [
    [RELAYS, createRelay()],
    [BULK, createBulk(store)],
    [FAMILY, walkFamily],
  ] as const
  for (const [served, inner] of slices) registry.serve(served, { inner, longest: () => SLICE_MS })
  const versions = createVersions({ ...options, store, fetch: send, now, secret: options.tokenSecret })
  const { lease, budget, requests } = { ...laneDefaults, ...options.lane }
  const tracer = options.traces && createTracerOf(options, options.traces, outgoing)
  const executor = createExecutor({
    ...options,
    store,
    registry,
    random,
    now,
    ring,
    lease,
    push: outgoing,
    tracer,
    versions,
  })
  const constraints = createConstraints(store, registry)
  const history = createHistory({ store, history: historyStore, now })
  const dispatcher = createDispatcher({
    store,
    executor,
    history,
    constraints,
    ring,
    lane: options.lane,
    listen: (lane, signal) => client.listen(store.keys.calls(lane), signal),
  })

  const ringer = createRinger({ bells, store, defer, serve: dispatch, eager: options.dispatch === 'eager' })
  async function ring(rings: Ring[], guest?: Guest): Promise<void> {
    await ringer.ring(rings, guest)
  }

  const { announce, announceBeforeRuns } = announcing(registry, workers)
  async function dispatch(queue: string, bell: string, guest?: Guest) {
    await history.begin()
    await announceBeforeRuns(queue)
    return dispatcher.dispatch(queue, bell, guest)
  }
  async function startLane(): Promise<EagerLane> {
    await history.begin()
    await announceBeforeRuns()
    return dispatcher.start()
  }

  async function change(job: string, ops: Words[], call?: Call, period?: number): Promise<string[]> {
    const { answer, rings } = await store.change(job, ops, onceOf(call, period), {
      queues: registry.queues,
      ...quotaOf(call),
    })
    await ring(rings)
    return answer
  }

  async function performAlone(claimed: ClaimedJob): Promise<SentOutcome | undefined> {
    const settled = await executor.run(claimed, { alone: true })
    return settled && outcomeToSend(settled)
  }

  const classes = createClasses({ store, registry })
  const longPoll = createLongPoll({ client, now })
  const eager =
    options.dispatch === 'eager' && defer
      ? {
          start: startLane,
          async goOn(lane: EagerLane, claimed: ClaimedJob[]): Promise<void> {
            const work = dispatcher.goOn(lane, claimed, ringer.guest())
            if (defer(work) === false) await work.catch(() => undefined)
          },
        }
      : undefined
  const parts: Context = {
    store,
    client,
    registry,
    classes,
    eager,
    constraints,
    executor,
    versions,
    longPoll,
    ring,
    announce,
    change,
    ...viewing(store, options.prices),
    now,
    random,
    payloads,
    allowHosts,
  }
  const health = { client, store, bells, version: VERSION, isTenant, history }
  const jobs: Jobs = createJobs(parts)
  const log = createLog(parts)
  const errors = createErrors(parts)
  const schedules: Schedules = createSchedules(parts, jobs)
  const flows = createFlows(parts)

  return {
    jobs: { ...jobs, ...createCopies(parts, jobs), ...createResults(parts), ...createPastRuns(parts, log) },
    waiting: createWaiting(parts),
    recorded: createRecorded(parts),
    schedules,
    ports: createPorts(parts),
    channels: createChannels(parts),
    log,
    errors,
    deployments: createDeployments(parts, errors),
    bulk: createBulkVerbs(parts),
    callbacks: {
      ...createCallbackVerbs(parts),
      secrets: async (url: string) => ({ secrets: await signer.endpointSecrets(url) }),
    },

    queues: createQueues(parts),
    workers: createWorkers(parts, workers),
    processes: createProcesses(parts),
    ...createLimits(parts),
    constraints: createConstraintVerbs(parts),
    breakers: createBreakers(parts),

    ...flows,
    flows: { ...flows.flows, ...createRecording(parts) },

    runs: createRuns(parts),
    deliveries: createDeliveries(parts),

    ...createKeys(parts, options),
    audit: createAudit(parts),
    history,
    tenants: createTenants(parts),
    views: createViews(parts),
    alerts: createAlerts(parts),

    stats: { ...createStats(parts), ...createGlance(parts, health) },
    ...createFind(parts),
    ...createHealth(health),
    doctor: createDoctor(parts),

    dispatch,
    tick: createTick({ store, announce, ringer, history, serve: dispatch, budget, requests, now, isTenant }),
    ...createRunOne(parts),
    performAlone,
    performPinned: async (headers: Headers, bytes: Uint8Array) => ({
      outcome: await performAlone(await versions.received(headers, bytes)),
    }),
  }
}

/** An interface keeps error messages of TypeScript short: they contain its name instead of its members. */
export interface Engine extends ReturnType<typeof assemble> {}

/**
 * Creates the engine that a Worker uses, for tests and other hosts.
 *
 * @example
 * const engine = createEngine({ redis: { url, token }, qstash: { token, publicUrl }, workers: [zip] })
 * await engine.jobs.enqueue([{ queue: 'default', class: 'zip' }])
 */
export const createEngine = (options: EngineOptions): Engine => assemble(options)

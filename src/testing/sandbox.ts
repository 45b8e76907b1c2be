import { decodeValue, encodeValue } from '../core/codec/value.ts'
import { readWorker } from '../core/definition.ts'
import { ended, type Status } from '../core/job.ts'
import { mapValues } from '../core/map-values.ts'
import { type Retry, retryDelay } from '../core/retry.ts'
import type { Changes, Op, RunError, Snapshot } from '../core/run.ts'
import { duration } from '../core/time.ts'
import { type Worker, workerDefaults } from '../core/worker.ts'
import { OlderCode } from '../engine/run/code-change.ts'
import { runFunction } from '../engine/run/function.ts'
import {
  applied,
  childOf,
  ID,
  itemsOf,
  listed,
  type Memory,
  newChild,
  open,
  type Specs,
  sideOf,
  valuesOf,
} from './memory.ts'

export type SandboxOptions = {
  args?: unknown
  name?: string
  in?: Specs
  out?: Specs
  state?: Record<string, unknown>
  children?: Record<string, { class?: string; status?: Status; out?: Record<string, unknown[]> }>
  env?: object
  graphs?: Record<string, unknown>
  /** Milliseconds since 1970. */
  now?: number
}

/** `released`: the job has a patch that this function lacks, so another version has to run it. */
export type Ran = { end: Changes['end'] | 'released'; ops: Op[]; error?: RunError; result?: unknown }

type Job = Pick<SandboxOptions, 'args' | 'name' | 'env' | 'graphs'> & {
  worker: Worker
  timeout: number
  retry: Retry
  memory: Memory
  now: number
  createdAt: number
  status: Status
  woken: boolean
  runAt?: number
  ranAt: number | null
  runs: number
  failures: number
  /** Children that its function waits for. */
  awaited: readonly string[]
}

/** In milliseconds. */
const LEASE = 45_000

const doings = ({ ops = [] }: Changes): Op[] => ops.filter(({ op }) => op !== 'entry')

function familyOf({ memory, awaited }: Job): NonNullable<Snapshot['family']> {
  const those = (status: Status, leaves: 'result' | 'error') =>
    Object.entries(memory.children)
      .filter(([name, child]) => awaited.includes(name) && child.status === status)
      .map(([name, { id, class: of, left }]) => ({
        id,
        name,
        class: of,
        args: null,
        ...(left ? { [leaves]: left } : {}),
      }))
  return {
    finished: those('completed', 'result'),
    cancelled: those('terminated', 'error'),
    failed: those('failed', 'error'),
  }
}

function snapshotOf(job: Job): Snapshot {
  const { worker, timeout, memory, args, name = null, createdAt, ranAt, now, runs, failures, awaited } = job
  return {
    run: {
      token: `${ID}.${runs}.sandbox`,
      attempt: failures + 1,
      lost: 0,
      reason: 'run',
      timeout,
      startedAt: now,
      leaseUntil: now + LEASE,
    },
    job: {
      id: ID,
      queue: worker.queue ?? workerDefaults.queue,
      class: worker.class,
      args: args === undefined ? null : encodeValue(args),
      name,
      createdAt,
      createdBy: '',
      ranAt,
      parent: null,
      aliases: [],
    },
    state: { ...memory.state },
    in: mapValues(listed(memory.in), ({ taken, values, ...port }) => ({
      ...port,
      cursor: taken,
      values: [...values],
      more: 0,
    })),
    out: mapValues(listed(memory.out), ({ taken: _, values, ...port }) => ({ ...port, size: values.length })),
    children: mapValues(memory.children, ({ id, status, class: name }) => ({ id, status, class: name })),
    steps: { ...memory.steps },
    ...(awaited.length ? { family: familyOf(job) } : {}),
  }
}

function commit(job: Job, changes: Changes): void {
  const { memory, woken } = applied(job.memory, changes)
  job.memory = memory
  job.woken ||= woken
}

function peek({ children }: Memory, { id, dir, port }: { id: number; dir: 'in' | 'out'; port: string }) {
  const child = Object.values(children).find((one) => one.id === id)
  const found = child && listed(child[dir])[port]
  return found ? { taken: found.taken, values: [...found.values] } : null
}

/** If input arrived during the run, the job runs again, even if the run completed the job. */
function rest(job: Job, { end, waitFor, pause, wait, at }: Changes): void {
  const { memory, now } = job
  const until = at ?? (wait === undefined ? pause?.until : now + wait)
  job.runAt = until ?? (pause ? undefined : job.runAt)
  job.ranAt ??= now
  job.failures = 0
  job.awaited = pause?.children ?? []
  if (!pause) memory.steps = {}
  const isOpen = Object.entries(memory.children).some(
    ([name, child]) => !ended.has(child.status) && (waitFor === 'children' || waitFor?.includes(name)),
  )
  const waits = end === 'suspended' && waitFor !== undefined
  job.woken ||= (end === 'again' && until === undefined) || (waits && !isOpen)
  const follows = end === 'follow' && Object.values(memory.children).every((child) => child.status === 'completed')
  if (job.woken || (job.runAt !== undefined && !waits)) job.status = 'queued'
  else job.status = follows || end === 'completed' ? 'completed' : 'suspended'
}

function fail(job: Job, ops: Op[], error: RunError): Ran {
  job.failures++
  const delay = error.retry === false ? undefined : retryDelay(job.retry, job.failures, 0, error.after)
  job.status = delay === undefined ? 'failed' : 'queued'
  job.runAt = delay === undefined ? undefined : job.now + delay
  job.woken = false
  return { end: 'failed', ops, error }
}

function perform(job: Job, ops: Op[]): Promise<Changes | OlderCode> {
  const { worker, graphs = {}, env } = job
  return runFunction(worker, snapshotOf(job), {
    checkpoint: async (changes) => {
      commit(job, changes)
      ops.push(...doings(changes))
      return snapshotOf(job)
    },
    page: async () => ({ values: [], more: 0 }),
    peek: async (of) => of.map((one) => peek(job.memory, one)),
    look: async () => null,
    storedGraph: async (name) => (Object.hasOwn(graphs, name) ? encodeValue(graphs[name]) : null),
    progress: async () => undefined,
    steps: async () => job.memory.steps,
    children: async () => snapshotOf(job).children,
    now: () => job.now,
    env,
  }).catch((error) => {
    if (error instanceof OlderCode) return error
    throw error
  })
}

const isReady = ({ status, woken, runAt, now }: Job): boolean =>
  status === 'queued' && (woken || (runAt !== undefined && runAt <= now))

async function runOnce(job: Job): Promise<Ran> {
  job.runs++
  job.woken = false
  if (job.runAt !== undefined && job.runAt <= job.now) job.runAt = undefined
  const ops: Op[] = []
  const changes = await perform(job, ops)
  if (changes instanceof OlderCode) {
    job.status = 'queued'
    job.runAt = job.now + changes.after
    return { end: 'released', ops, error: { message: changes.message } }
  }
  const { end, error, result } = changes
  if (end === 'failed') return fail(job, ops, error!)
  try {
    commit(job, changes)
  } catch (cause) {
    return fail(job, ops, { message: (cause as Error).message, retry: false })
  }
  rest(job, changes)
  ops.push(...doings(changes))
  return { end, ops, ...(result === undefined ? {} : { result: decodeValue(result) }) }
}

function remember(worker: Worker, options: SandboxOptions): Memory {
  const memory: Memory = {
    who: `job ${ID} (${worker.class})`,
    in: sideOf({ ...worker.in, ...options.in }),
    out: sideOf({ ...worker.out, ...options.out }),
    state: mapValues(options.state ?? {}, (value) => encodeValue(value)),
    children: {},
    steps: {},
    lastId: ID,
  }
  for (const [name, { out = {}, ...child }] of Object.entries(options.children ?? {})) {
    memory.children[name] = newChild(memory, child)
    for (const [port, values] of Object.entries(out)) feed(memory, name, port, values)
  }
  return memory
}

const feed = (memory: Memory, child: string, port: string, values: unknown[]): number =>
  open(childOf(memory, child).out, 'out', port, `child ${child}`).values.push(...itemsOf(values))

const shown = (side: Memory['in']): Record<string, unknown[]> =>
  mapValues(listed(side), ({ values }) => valuesOf(values))

/**
 * Creates a job that can receive values, run and be inspected. The job's clock moves only when you advance it.
 *
 * @example
 * const job = sandbox(delay, { in: { delay: { default: 10 } } })
 * job.write('in', 'hello')
 * await job.settle()
 * job.advance('10s')
 * await job.settle()
 * job.take('out') // ['hello']
 */
export function sandbox(worker: Worker, options: SandboxOptions = {}) {
  const { timeout = workerDefaults.timeout, retry = {} } = readWorker(worker)
  const { now = Date.now() } = options
  const job: Job = {
    ...options,
    worker,
    timeout,
    retry,
    memory: remember(worker, options),
    now,
    createdAt: now,
    status: 'queued',
    woken: true,
    ranAt: null,
    runs: 0,
    failures: 0,
    awaited: [],
  }
  const inputOf = (port: string) => open(job.memory.in, 'in', port, job.memory.who)

  function wake(): void {
    if (job.status === 'failed') return
    job.status = 'queued'
    job.woken = true
  }

  return {
    run: () => runOnce(job),
    wake,
    /** Runs the job until it must wait. Returns the last run. */
    async settle({ limit = 1_000 }: { limit?: number } = {}): Promise<Ran | undefined> {
      let last: Ran | undefined
      for (let n = 0; isReady(job); n++) {
        if (n === limit) throw new Error(`${job.memory.who} is still ready after ${limit} runs`)
        last = await runOnce(job)
      }
      return last
    },
    /** Seconds, or a string like '5m'. */
    advance(time: number | string): void {
      job.now += duration(time)
    },
    write(port: string, ...values: unknown[]): void {
      inputOf(port).values.push(...itemsOf(values))
      if (values.length > 0) wake()
    },
    /** Does not wake the job. `undefined` removes the default. */
    setDefault(port: string, value: unknown): void {
      const own = inputOf(port)
      if (value === undefined) delete own.default
      else own.default = { data: encodeValue(value) }
    },
    take(port: string): unknown[] {
      const own = open(job.memory.out, 'out', port, job.memory.who)
      own.taken += own.values.length
      return valuesOf(own.values.splice(0))
    },
    hear(channel: string, message: unknown): void {
      const listening = Object.values(listed(job.memory.in)).filter(({ channels }) => channels.includes(channel))
      for (const port of listening) port.values.push(...itemsOf([message]))
      if (listening.length > 0) wake()
    },
    child(
      name: string,
      { status, left, out = {} }: { status?: Status; left?: unknown; out?: Record<string, unknown[]> },
    ): void {
      if (status) childOf(job.memory, name).status = status
      if (left !== undefined) childOf(job.memory, name).left = encodeValue(left)
      for (const [port, values] of Object.entries(out)) feed(job.memory, name, port, values)
      wake()
    },
    get status() {
      return job.status
    },
    get runAt() {
      return job.runAt
    },
    get state(): Record<string, unknown> {
      return mapValues(job.memory.state, (value) => decodeValue(value))
    },
    get out() {
      return shown(job.memory.out)
    },
    get unread() {
      return shown(job.memory.in)
    },
    get defaults(): Record<string, unknown> {
      const ports = Object.entries(listed(job.memory.out))
      return Object.fromEntries(
        ports.flatMap(([name, port]) => (port.default ? [[name, decodeValue(port.default.data)]] : [])),
      )
    },
  }
}

export type Sandbox = ReturnType<typeof sandbox>

import { decodeValue, encodeValue } from '../core/codec/value.ts'
import { readWorker } from '../core/definition.ts'
import { ended, type Status } from '../core/job.ts'
import { mapValues } from '../core/map-values.ts'
import { retryDelay } from '../core/retry.ts'
import type { Changes, Op, RunError, Snapshot } from '../core/run.ts'
import { duration } from '../core/time.ts'
import { type Worker, workerDefaults } from '../core/worker.ts'
import { OlderCode } from '../engine/run/code-change.ts'
import { runFunction } from '../engine/run/function.ts'
import { applied, childOf, ID, itemsOf, listed, type Memory, newChild, open, sideOf, valuesOf } from './memory.ts'

type Specs = Record<string, { default?: unknown; channels?: string[] }>

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

const doings = ({ ops = [] }: Changes): Op[] => ops.filter(({ op }) => op !== 'entry')

/** `released`: the job has a patch that this function lacks, so another version has to run it. */
export type Ran = { end: Changes['end'] | 'released'; ops: Op[]; error?: RunError; result?: unknown }

/** In milliseconds. */
const LEASE = 45_000

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
  let memory = remember(worker, options)
  const graphs = options.graphs ?? {}
  let now = options.now ?? Date.now()
  const createdAt = now
  let status: Status = 'queued'
  let woken = true
  let runAt: number | undefined
  let ranAt: number | null = null
  let runs = 0
  let failures = 0
  let awaited: readonly string[] = []

  const snapshot = (): Snapshot => ({
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
      args: options.args === undefined ? null : encodeValue(options.args),
      name: options.name ?? null,
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
    ...(awaited.length ? { family: family() } : {}),
  })

  function family(): NonNullable<Snapshot['family']> {
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

  function commit(changes: Changes): void {
    const after = applied(memory, changes)
    memory = after.memory
    woken ||= after.woken
  }

  function peek({ id, dir, port }: { id: number; dir: 'in' | 'out'; port: string }) {
    const child = Object.values(memory.children).find((one) => one.id === id)
    const found = child && listed(child[dir])[port]
    return found ? { taken: found.taken, values: [...found.values] } : null
  }

  /** If input arrived during the run, the job runs again, even if the run completed the job. */
  function rest({ end, waitFor, pause, wait, at = wait === undefined ? pause?.until : now + wait }: Changes): void {
    runAt = at ?? (pause ? undefined : runAt)
    ranAt ??= now
    failures = 0
    awaited = pause?.children ?? []
    if (!pause) memory.steps = {}
    const open = Object.entries(memory.children).some(
      ([name, child]) => !ended.has(child.status) && (waitFor === 'children' || waitFor?.includes(name)),
    )
    const waits = end === 'suspended' && waitFor !== undefined
    woken ||= (end === 'again' && at === undefined) || (waits && !open)
    const follows = end === 'follow' && Object.values(memory.children).every((child) => child.status === 'completed')
    if (woken || (runAt !== undefined && !waits)) status = 'queued'
    else if (follows) status = 'completed'
    else status = end === 'completed' ? 'completed' : 'suspended'
  }

  function fail(error: RunError): void {
    failures++
    const delay = error.retry === false ? undefined : retryDelay(retry, failures, 0, error.after)
    status = delay === undefined ? 'failed' : 'queued'
    runAt = delay === undefined ? undefined : now + delay
    woken = false
  }

  function wake(): void {
    if (status === 'failed') return
    status = 'queued'
    woken = true
  }

  function performed(ops: Op[]): Promise<Changes | OlderCode> {
    return runFunction(worker, snapshot(), {
      checkpoint: async (changes) => {
        commit(changes)
        ops.push(...doings(changes))
        return snapshot()
      },
      page: async () => ({ values: [], more: 0 }),
      peek: async (of) => of.map(peek),
      look: async () => null,
      storedGraph: async (name) => (Object.hasOwn(graphs, name) ? encodeValue(graphs[name]) : null),
      progress: async () => undefined,
      steps: async () => memory.steps,
      children: async () => snapshot().children,
      now: () => now,
      env: options.env,
    }).catch((error) => {
      if (error instanceof OlderCode) return error
      throw error
    })
  }

  async function run(): Promise<Ran> {
    runs++
    woken = false
    if (runAt !== undefined && runAt <= now) runAt = undefined
    const ops: Op[] = []
    const changes = await performed(ops)
    if (changes instanceof OlderCode) {
      status = 'queued'
      runAt = now + changes.after
      return { end: 'released', ops, error: { message: changes.message } }
    }
    const { end, error, result } = changes
    if (end === 'failed') {
      fail(error!)
      return { end, ops, error }
    }
    try {
      commit(changes)
    } catch (cause) {
      const refusal: RunError = { message: (cause as Error).message, retry: false }
      fail(refusal)
      return { end: 'failed', ops, error: refusal }
    }
    rest(changes)
    ops.push(...doings(changes))
    return { end, ops, ...(result === undefined ? {} : { result: decodeValue(result) }) }
  }

  return {
    run,
    wake,
    /** Runs the job until it must wait. Returns the last run. */
    async settle({ limit = 1_000 }: { limit?: number } = {}): Promise<Ran | undefined> {
      let last: Ran | undefined
      for (let n = 0; status === 'queued' && (woken || (runAt !== undefined && runAt <= now)); n++) {
        if (n === limit) throw new Error(`${memory.who} is still ready after ${limit} runs`)
        last = await run()
      }
      return last
    },
    /** Seconds, or a string like '5m'. */
    advance(time: number | string): void {
      now += duration(time)
    },
    write(port: string, ...values: unknown[]): void {
      open(memory.in, 'in', port, memory.who).values.push(...itemsOf(values))
      if (values.length > 0) wake()
    },
    /** Does not wake the job. `undefined` removes the default. */
    setDefault(port: string, value: unknown): void {
      const own = open(memory.in, 'in', port, memory.who)
      if (value === undefined) delete own.default
      else own.default = { data: encodeValue(value) }
    },
    take(port: string): unknown[] {
      const own = open(memory.out, 'out', port, memory.who)
      own.taken += own.values.length
      return valuesOf(own.values.splice(0))
    },
    hear(channel: string, message: unknown): void {
      const listening = Object.values(listed(memory.in)).filter(({ channels }) => channels.includes(channel))
      for (const port of listening) port.values.push(...itemsOf([message]))
      if (listening.length > 0) wake()
    },
    child(
      name: string,
      { status, left, out = {} }: { status?: Status; left?: unknown; out?: Record<string, unknown[]> },
    ): void {
      if (status) childOf(memory, name).status = status
      if (left !== undefined) childOf(memory, name).left = encodeValue(left)
      for (const [port, values] of Object.entries(out)) feed(memory, name, port, values)
      wake()
    },
    get status() {
      return status
    },
    get runAt() {
      return runAt
    },
    get state(): Record<string, unknown> {
      return mapValues(memory.state, (value) => decodeValue(value))
    },
    get out() {
      return shown(memory.out)
    },
    get unread() {
      return shown(memory.in)
    },
    get defaults(): Record<string, unknown> {
      const ports = Object.entries(listed(memory.out))
      return Object.fromEntries(
        ports.flatMap(([name, port]) => (port.default ? [[name, decodeValue(port.default.data)]] : [])),
      )
    },
  }
}

export type Sandbox = ReturnType<typeof sandbox>

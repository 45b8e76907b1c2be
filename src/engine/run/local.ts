import type { Encoded } from '../../core/codec/value.ts'
import type { Changes } from '../../core/run.ts'
import type { RunOutcome } from '../../redis/changes.ts'
import { setRun } from '../../redis/ops.ts'
import type { Store } from '../../redis/store.ts'
import type { ClaimedJob, Ring } from '../../redis/types.ts'
import { returned } from '../jobs/outcome.ts'
import { type Registered, timeoutOf } from '../jobs/registry.ts'
import type { RunTrace } from '../trace/tracer.ts'
import { OlderCode } from './code-change.ts'
import type { Decide } from './decide.ts'
import { LostRun, runFunction } from './function.ts'
import { createReader } from './reader.ts'
import { keepsValues, Recording } from './recording.ts'
import { adoptable, snapshotOf } from './snapshot.ts'
import type { JobTools } from './tools.ts'
import type { Usage } from './usage.ts'

type Parts = {
  store: Store
  decide: Decide
  ring: (rings: Ring[]) => Promise<void>
  now: () => number
  lease: number
  env?: unknown
  locate?: (stack: string) => Promise<string>
}

export type RunContext = { usage: Usage; trace: RunTrace | undefined }

type Running = RunContext & { claimed: ClaimedJob; found: Registered }

/** Performs runs of functions of this Worker. */
export function createLocal({ store, decide, ring, now, lease, env, locate }: Parts) {
  const reader = createReader(store)

  async function checkpoint(changes: Changes, running: Running) {
    const { claimed, found, usage } = running
    const settled = await decide(claimed, changes, running)
    const { answers, claimed: fresh, rings } = await store.commit({ runs: [settled] })
    await ring(rings)
    if (answers[0] !== 'running') {
      const why = `the checkpoint was refused: ${answers[0]}`
      usage.stops.abort([claimed.document.token!], why)
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
    get #claimed() {
      return this.#running.claimed
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
      return reader.page(this.#claimed.id, port, after)
    }
    peek(of: Parameters<JobTools['peek']>[0]) {
      return reader.peek(of)
    }
    steps() {
      return reader.steps(this.#claimed.id)
    }
    children() {
      return reader.children(this.#claimed.id)
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
      const { queue, token } = this.#claimed.document
      return store.extend(queue, [token!], lease, { progress: value })
    }
  }

  return async (
    claimed: ClaimedJob,
    found: Registered,
    { usage, trace }: RunContext,
  ): Promise<RunOutcome | undefined> => {
    const snapshot = snapshotOf(claimed, timeoutOf(found))
    const running = { claimed, found, usage, trace }
    const tools = new Tools(running)
    const recording = keepsValues(found.local!) ? new Recording(snapshot) : undefined
    let changes: Changes
    try {
      changes = await runFunction(found.local!, snapshot, recording?.watched(tools) ?? tools, usage)
    } catch (error) {
      if (error instanceof LostRun) return undefined
      if (error instanceof OlderCode) return returned(claimed, error.after, error.message)
      throw error
    }
    const stack = locate && changes.error?.stack
    const placed = stack ? { ...changes, error: { ...changes.error!, stack: await locate(stack) } } : changes
    const settled = await decide(claimed, placed, running)
    if (!recording) return settled
    const recorded = store.vault.seal(recording.text(changes), 'run')
    return { ...settled, words: [...settled.words, ...setRun.values({ recorded })] }
  }
}

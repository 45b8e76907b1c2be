// Runs a function with the snapshot of a job that waits inside it, up to the first step or wait that is new.

import type { CodeChange } from '../core/code-change.ts'
import { parseJson } from '../core/codec/json.ts'
import { encodeValue } from '../core/codec/value.ts'
import { check } from '../core/issues.ts'
import type { Changes, Snapshot } from '../core/run.ts'
import { closedIn } from '../core/schemas.ts'
import { type GivenWaitingJob, type WaitingJob, waitingJob } from '../core/waiting.ts'
import { Terminal, type Worker } from '../core/worker.ts'
import { OlderCode } from '../engine/run/code-change.ts'
import { LostRun, runFunction } from '../engine/run/function.ts'
import type { JobTools } from '../engine/run/tools.ts'

/**
 * The outcome for one job. `repeats`: it would do a kept step again under another name; `waits`: it would wait for
 * another time or thing than its code requests; `skips`: it would end without a kept step or wait. With `fails`, the
 * `onCodeChange` of the class fails it instead. `fails`: its function throws.
 */
export type Verdict =
  | { is: 'continues'; next: string }
  | { is: 'repeats' | 'waits' | 'skips'; change: CodeChange; fails: boolean }
  | { is: 'fails'; message: string }
  | { is: 'unjudged'; why: string }

export type RehearsalOptions = {
  /** Members of `job.env`. A rehearsal that uses another member is not judged. */
  env?: object
  /** Read what did not fit in the snapshot. */
  steps?: () => Promise<Record<string, unknown>>
  children?: () => Promise<Snapshot['children']>
  /** Milliseconds that the function may take outside of steps. */
  patience?: number
}

const PATIENCE = 5_000
const closedParts = closedIn(waitingJob)

/** Ends the judgement with a reason, also if the function catches the error. */
type Give = (why: string) => never

/** An object of which any use gives up. */
const unusable = (what: string, give: Give): unknown => {
  const use = () => give(`it uses ${what}`)
  return new Proxy(() => undefined, { get: use, set: use, has: use, apply: use, construct: use, ownKeys: use })
}

const envOf = (given: object, give: Give): object =>
  new Proxy(given, {
    get: (own, name) =>
      name in own || typeof name === 'symbol' ? Reflect.get(own, name) : unusable(`job.env.${name}`, give),
  })

/** Replaces a masked member by one whose reading gives up. */
function guard(holder: object | undefined, member: string, part: string, give: Give): void {
  if (holder && Object.hasOwn(holder, member))
    Object.defineProperty(holder, member, { enumerable: true, get: () => give(`it reads ${part}, which is masked`) })
}

function guardMasked({ snapshot, masked }: WaitingJob, give: Give): void {
  const { finished = [], failed = [], cancelled = [] } = snapshot.family ?? {}
  for (const part of masked) {
    const [kind, ...rest] = part.split('.')
    const name = rest.join('.')
    const guardIn = (holder: object | undefined, member: string) => guard(holder, member, part, give)
    if (kind === 'args') guardIn(snapshot.job, 'args')
    if (kind === 'state') guardIn(snapshot.state, name)
    if (kind === 'steps') guardIn(snapshot.steps, name)
    if (kind === 'in') for (const member of ['values', 'default']) guardIn(snapshot.in[name], member)
    if (kind === 'child')
      for (const heir of [...finished, ...failed, ...cancelled])
        if (heir.name === name) for (const member of ['result', 'error']) guardIn(heir, member)
  }
}

const REQUEST = 'it makes a request outside of a step'

/** The last rehearsal: one at a time, because each replaces `fetch`. */
let turn: Promise<unknown> = Promise.resolve()

/** Runs alone and without `fetch`. */
function withoutFetch<T>(give: Give, run: () => Promise<T>): Promise<T> {
  const mine = turn.then(async () => {
    const { fetch } = globalThis
    globalThis.fetch = async () => give(REQUEST)
    try {
      return await run()
    } finally {
      globalThis.fetch = fetch
    }
  })
  turn = mine.catch(() => undefined)
  return mine
}

const kindOf = ({ kept, asked }: CodeChange): 'repeats' | 'waits' | 'skips' => {
  if (asked === null) return 'skips'
  return kept.startsWith('step ') ? 'repeats' : 'waits'
}

/** @example seconds(5_000) // '5 s' */
const seconds = (ms: number): string => `${ms / 1_000} s`

/**
 * Runs a function as the next run of a waiting job would, and ends it before the first step, wait or commit that is
 * new. Nothing that it changes is kept.
 *
 * @example
 * const { jobs } = await client.waiting.list({ class: 'order' })
 * for (const job of jobs) expect(await rehearse(order, job)).toMatchObject({ is: 'continues' })
 */
export async function rehearse(
  worker: Worker,
  given: GivenWaitingJob,
  { env = {}, patience = PATIENCE, ...more }: RehearsalOptions = {},
): Promise<Verdict> {
  const job = check(waitingJob, parseJson(JSON.stringify(given), closedParts))
  if (job.fault !== undefined) return { is: 'unjudged', why: job.fault }
  let [why, next]: (string | undefined)[] = []
  let change: CodeChange | undefined
  const give: Give = (reason) => {
    why ??= reason
    throw new Terminal(`a rehearsal cannot judge this: ${reason}`)
  }
  const { snapshot } = job
  if (snapshot.moreSteps && more.steps)
    Object.assign(snapshot, { steps: encoded(await more.steps()), moreSteps: undefined })
  if (snapshot.moreChildren && more.children)
    Object.assign(snapshot, { children: await more.children(), moreChildren: undefined })
  snapshot.run.timeout = Math.min(snapshot.run.timeout, patience)
  guardMasked(job, give)
  const beyond = (what: string) => async () => give(`it reads ${what}`)
  const tools: JobTools = {
    async checkpoint() {
      next ??= 'a commit'
      throw new LostRun(`the rehearsal ends before ${next}`)
    },
    page: beyond('more values of a port than its snapshot has'),
    peek: beyond('values of its children'),
    look: beyond('another job'),
    storedGraph: beyond('a stored graph'),
    progress: async () => undefined,
    steps: beyond('more steps than its snapshot has'),
    children: beyond('more children than its snapshot has'),
    now: () => 0,
    env: envOf(env, give),
    rehearsal: {
      reached: (what) => void (next ??= what),
      changed: (found) => void (change ??= found),
    },
  }
  const { error, pause }: Partial<Changes> = await withoutFetch(give, () => runFunction(worker, snapshot, tools)).catch(
    ended,
  )
  if (why !== undefined) return { is: 'unjudged', why }
  if (change) return { is: kindOf(change), change, fails: (worker.onCodeChange ?? 'fail') === 'fail' }
  if (next !== undefined) return { is: 'continues', next }
  if (error?.reason === 'timeout')
    return { is: 'unjudged', why: `it took longer than ${seconds(patience)} outside of steps` }
  if (error) return { is: 'fails', message: error.message }
  return { is: 'continues', next: pause ? 'the same wait' : 'its end' }
}

function ended(error: unknown): Partial<Changes> {
  if (error instanceof LostRun || error instanceof OlderCode) return {}
  throw error
}

const encoded = (steps: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(steps).map(([name, value]) => [name, encodeValue(value)]))

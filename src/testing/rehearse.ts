import type { CodeChange } from '../core/code-change.ts'
import { parseJson } from '../core/codec/json.ts'
import { encodeValue } from '../core/codec/value.ts'
import { check } from '../core/issues.ts'
import { mapValues } from '../core/map-values.ts'
import type { Snapshot } from '../core/run.ts'
import { closedIn } from '../core/schemas.ts'
import { type WaitingJob, type WaitingJobInput, waitingJob } from '../core/waiting.ts'
import type { Worker } from '../core/worker.ts'
import { LostRun } from '../engine/run/function.ts'
import { type Fail, type JudgeOptions, judging } from './judge.ts'

/**
 * `repeats`: a stored step would be performed again under another name. `waits`: the wait has changed. `skips`: the
 * code ends without requesting a stored step or wait.
 */
export type Verdict =
  | { is: 'continues'; next: string }
  | { is: 'repeats' | 'waits' | 'skips'; change: CodeChange; fails: boolean }
  | { is: 'fails'; message: string }
  | { is: 'unjudged'; why: string }

export type RehearsalOptions = JudgeOptions & {
  /** Reads the steps and children that the snapshot lacks. */
  steps?: () => Promise<Record<string, unknown>>
  children?: () => Promise<Snapshot['children']>
}

const closedParts = closedIn(waitingJob)

function guard(holder: object | undefined, member: string, part: string, give: Fail): void {
  if (holder && Object.hasOwn(holder, member))
    Object.defineProperty(holder, member, { enumerable: true, get: () => give(`it reads ${part}, which is masked`) })
}

function guardMasked({ snapshot, masked }: WaitingJob, give: Fail): void {
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
      for (const child of [...finished, ...failed, ...cancelled])
        if (child.name === name) for (const member of ['result', 'error']) guardIn(child, member)
  }
}

const kindOf = ({ kept, asked }: CodeChange): 'repeats' | 'waits' | 'skips' => {
  if (asked === null) return 'skips'
  return kept.startsWith('step ') ? 'repeats' : 'waits'
}

const encoded = (steps: Record<string, unknown>) => mapValues(steps, (value) => encodeValue(value))

async function whole(snapshot: Snapshot, { steps, children }: RehearsalOptions): Promise<Snapshot> {
  return {
    ...snapshot,
    ...(snapshot.moreSteps && steps ? { steps: encoded(await steps()), moreSteps: undefined } : {}),
    ...(snapshot.moreChildren && children ? { children: await children(), moreChildren: undefined } : {}),
  }
}

/**
 * Runs a function as the next run of a waiting job, up to the first new step, wait or commit. Changes nothing.
 *
 * @example
 * const { jobs } = await client.waiting.list({ class: 'order' })
 * for (const job of jobs) expect(await rehearse(order, job)).toMatchObject({ is: 'continues' })
 */
export async function rehearse(
  worker: Worker,
  given: WaitingJobInput,
  options: RehearsalOptions = {},
): Promise<Verdict> {
  const job = check(waitingJob, parseJson(JSON.stringify(given), closedParts))
  if (job.fault !== undefined) return { is: 'unjudged', why: job.fault }
  let next: string | undefined
  let change: CodeChange | undefined
  const snapshot = await whole(job.snapshot, options)
  const { changes, why } = await judging(worker, snapshot, options, {
    prepare: (give) => guardMasked({ ...job, snapshot }, give),
    async checkpoint() {
      next ??= 'a commit'
      throw new LostRun(`the rehearsal ended before ${next}`)
    },
    rehearsal: {
      reached: (what) => void (next ??= what),
      changed: (found) => void (change ??= found),
    },
  })
  if (why !== undefined) return { is: 'unjudged', why }
  if (change) return { is: kindOf(change), change, fails: (worker.onCodeChange ?? 'fail') === 'fail' }
  if (next !== undefined) return { is: 'continues', next }
  if (changes.error) return { is: 'fails', message: changes.error.message }
  return { is: 'continues', next: changes.pause ? 'the same wait' : 'its end' }
}

// Calls that come while one of their kind is under way: those go together, as one. Nobody waits where calls come now and then.

import { createGathering } from '../core/gathering.ts'
import { sleep } from '../core/sleep.ts'

/** Who waits for the call that is under way. */
type Waiting<Call, Answer> = { call: Call; tell: (said: Said<Answer>) => void }

/** It is to lead those that wait; it has been answered; or it has to ask by itself. */
type Said<Answer> = 'lead' | { answer: Answer } | { error: unknown } | 'ask by yourself'

export type TogetherOptions<Call, Answer> = {
  alone: (call: Call) => Promise<Answer>
  /** All of them or none; undefined: each has to ask by itself. */
  together: (calls: Call[]) => Promise<Answer[] | undefined>
  /** Whether a call can go with those. */
  suits: (call: Call, others: readonly Call[]) => boolean
  /** Milliseconds after which nobody counts any more on who leads: an invocation may end in the middle. */
  patience?: number
  elapsed?: () => number
}

const PATIENCE = 2_000
/** As many as a lane that waits is lent with one call. */
const MOST = 16
/** Where calls come often, who leads waits for so many milliseconds from when it came: so one script is for several. */
const GATHERING = 6

/**
 * Whether a request may wait for what another one has asked. workerd wakes it in its own invocation from compatibility date
 * 2024-10-14 on; before, it went on in that of the other and could not send anything any more.
 *
 * @example mayWaitForOthers({ Cloudflare: { compatibilityFlags: {} } }) // false
 */
export function mayWaitForOthers(runtime: object = globalThis): boolean {
  const { Cloudflare: worker } = runtime as { Cloudflare?: { compatibilityFlags: Record<string, boolean> } }
  return !worker || worker.compatibilityFlags.handle_cross_request_promise_resolution === true
}

/**
 * Makes the verb. Who comes first asks at once; those that come meanwhile wait for that answer, and then one of them asks for
 * all. Where calls come often, who asks for all waits a moment for more of them. Each sends in its own invocation, which is there as
 * long as it waits for its answer.
 *
 * @example const ask = createTogether({ alone, together, suits }); await ask(call)
 */
export function createTogether<Call, Answer>({
  alone,
  together,
  suits,
  patience = PATIENCE,
  elapsed = () => performance.now(),
}: TogetherOptions<Call, Answer>): (call: Call) => Promise<Answer> {
  type One = Waiting<Call, Answer>
  let line: One[] = []
  /** Since when one is under way. */
  let since = Number.NEGATIVE_INFINITY
  const gathering = createGathering(GATHERING)

  /** The first of the line is to lead. */
  function handOver(): void {
    const first = line.shift()
    since = first ? elapsed() : Number.NEGATIVE_INFINITY
    first?.tell('lead')
  }

  /** Those of the line that suit it, from now on not in line any more. */
  function taken(own: Call): One[] {
    const calls = [own]
    const others: One[] = []
    for (const one of line) {
      if (calls.length === MOST || !suits(one.call, calls)) continue
      calls.push(one.call)
      others.push(one)
    }
    line = line.filter((one) => !others.includes(one))
    return others
  }

  async function lead(own: Call, came: number): Promise<Answer> {
    since = elapsed()
    const ms = gathering.wait()
    const left = came + ms - elapsed()
    if (left > 0) await sleep(left)
    const others = taken(own)
    if (ms > 0 || others.length > 0) gathering.brought(others.length)
    const began = (since = elapsed())
    try {
      const answers = others.length ? await together([own, ...others.map(({ call }) => call)]) : undefined
      for (const [i, { tell }] of others.entries()) tell(answers ? { answer: answers[i + 1]! } : 'ask by yourself')
      return answers ? answers[0]! : await alone(own)
    } catch (error) {
      for (const { tell } of others) tell({ error })
      throw error
    } finally {
      if (since === began) handOver()
    }
  }

  /** What it is told while it waits. */
  async function told(call: Call): Promise<Said<Answer>> {
    const { promise, resolve } = Promise.withResolvers<Said<Answer>>()
    const own: One = { call, tell: resolve }
    line.push(own)
    const timer = setTimeout(() => {
      line = line.filter((one) => one !== own)
      resolve('ask by yourself')
    }, patience)
    const said = await promise
    clearTimeout(timer)
    return said
  }

  return async (call) => {
    const came = elapsed()
    gathering.note(came)
    if (came - since > patience) return lead(call, came)
    const said = await told(call)
    if (said === 'lead') return lead(call, came)
    if (said === 'ask by yourself') return alone(call)
    if ('error' in said) throw said.error
    return said.answer
  }
}

import { createGathering } from '../core/gathering.ts'
import { sleep } from '../core/sleep.ts'

type Waiting<Call, Answer> = { call: Call; tell: (said: Said<Answer>) => void }

type Said<Answer> = 'lead' | { answer: Answer } | { error: unknown } | 'ask by yourself'

type TogetherOptions<Call, Answer> = {
  alone: (call: Call) => Promise<Answer>
  /** Returns undefined if each call must be sent separately. */
  together: (calls: Call[]) => Promise<Answer[] | undefined>
  suits: (call: Call, others: readonly Call[]) => boolean
  /** Waiting calls wait at most this many milliseconds for the first call, because its invocation may have ended. */
  patience?: number
  elapsed?: () => number
}

const PATIENCE = 2_000
const MOST = 16
/** In milliseconds. */
const GATHERING = 6

/**
 * Before compatibility date 2024-10-14, workerd may resume a waiting call in the invocation of another call. In that
 * invocation, the waiting call cannot send requests.
 */
export function mayWaitForOthers(runtime: object = globalThis): boolean {
  const { Cloudflare: worker } = runtime as { Cloudflare?: { compatibilityFlags: Record<string, boolean> } }
  return !worker || worker.compatibilityFlags.handle_cross_request_promise_resolution === true
}

/** Sends the first call immediately. Later calls wait for the answer, and are then sent as one call. */
export function createTogether<Call, Answer>({
  alone,
  together,
  suits,
  patience = PATIENCE,
  elapsed = () => performance.now(),
}: TogetherOptions<Call, Answer>): (call: Call) => Promise<Answer> {
  type One = Waiting<Call, Answer>
  let line: One[] = []
  let since = Number.NEGATIVE_INFINITY
  const gathering = createGathering(GATHERING)

  function handOver(): void {
    const first = line.shift()
    since = first ? elapsed() : Number.NEGATIVE_INFINITY
    first?.tell('lead')
  }

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

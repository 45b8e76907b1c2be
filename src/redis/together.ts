import { createGathering } from '../core/gathering.ts'
import { sleep } from '../core/sleep.ts'

type Waiting<Call, Answer> = { call: Call; settle: (settled: Settled<Answer>) => void }

type Settled<Answer> = 'lead' | { answer: Answer } | { error: unknown } | 'ask by yourself'

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
export function canWaitForOthers(runtime: object = globalThis): boolean {
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
    first?.settle('lead')
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

  async function lead(own: Call, arrivedAt: number): Promise<Answer> {
    since = elapsed()
    const ms = gathering.wait()
    const left = arrivedAt + ms - elapsed()
    if (left > 0) await sleep(left)
    const others = taken(own)
    if (ms > 0 || others.length > 0) gathering.brought(others.length)
    const began = (since = elapsed())
    try {
      const answers = others.length ? await together([own, ...others.map(({ call }) => call)]) : undefined
      for (const [i, { settle }] of others.entries()) settle(answers ? { answer: answers[i + 1]! } : 'ask by yourself')
      return answers ? answers[0]! : await alone(own)
    } catch (error) {
      for (const { settle } of others) settle({ error })
      throw error
    } finally {
      if (since === began) handOver()
    }
  }

  async function join(call: Call): Promise<Settled<Answer>> {
    const { promise, resolve } = Promise.withResolvers<Settled<Answer>>()
    const own: One = { call, settle: resolve }
    line.push(own)
    const timer = setTimeout(() => {
      line = line.filter((one) => one !== own)
      resolve('ask by yourself')
    }, patience)
    const settled = await promise
    clearTimeout(timer)
    return settled
  }

  return async (call) => {
    const arrivedAt = elapsed()
    gathering.note(arrivedAt)
    if (arrivedAt - since > patience) return lead(call, arrivedAt)
    const settled = await join(call)
    if (settled === 'lead') return lead(call, arrivedAt)
    if (settled === 'ask by yourself') return alone(call)
    if ('error' in settled) throw settled.error
    return settled.answer
  }
}

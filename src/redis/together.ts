// Calls that come while one of their kind is under way: those go together, as one. Nobody waits where none is.

/** Who waits for the call that is under way. */
type Waiting<Call, Answer> = { call: Call; tell: (said: Said<Call, Answer>) => void }

/** It is to lead these; it has been answered; or it has to ask by itself. */
type Said<Call, Answer> =
  | { lead: Waiting<Call, Answer>[] }
  | { answer: Answer }
  | { error: unknown }
  | 'ask by yourself'

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

/**
 * Makes the verb. Who comes first asks at once; those that come meanwhile wait for that answer, and then one of them asks for
 * all. Each sends in its own invocation, which is there as long as it waits for its answer.
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

  /** The first of the line leads those that suit it. */
  function handOver(): void {
    const [first, ...rest] = line
    since = first ? elapsed() : Number.NEGATIVE_INFINITY
    if (!first) return
    const calls = [first.call]
    const taken: One[] = []
    for (const one of rest) {
      if (calls.length === MOST || !suits(one.call, calls)) continue
      calls.push(one.call)
      taken.push(one)
    }
    line = rest.filter((one) => !taken.includes(one))
    first.tell({ lead: taken })
  }

  async function lead(own: Call, others: One[]): Promise<Answer> {
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
  async function told(call: Call): Promise<Said<Call, Answer>> {
    const { promise, resolve } = Promise.withResolvers<Said<Call, Answer>>()
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
    if (elapsed() - since > patience) return lead(call, [])
    const said = await told(call)
    if (said === 'ask by yourself') return alone(call)
    if ('lead' in said) return lead(call, said.lead)
    if ('error' in said) throw said.error
    return said.answer
  }
}

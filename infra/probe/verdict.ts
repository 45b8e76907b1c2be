// What a question to a platform comes to: as our stand-ins do it, otherwise, or not to be known from here.

export type Verdict = 'ok' | 'differs' | 'not known'

export type Line = { about: string; verdict: Verdict; expected: string; got: string }

export type Question = {
  about: string
  /** What our stand-ins do, and so what the code is written for. */
  expected: string
  /** Undefined: it cannot be known from here, and `got` says what would tell. */
  ask: () => Promise<{ as?: boolean; got: string }>
}

export const is = (as: boolean, got: string) => ({ as, got })

/** A question that a program outside cannot answer, and what would. */
export const unknown = (about: string, expected: string, got: string): Question => ({
  about,
  expected,
  ask: async () => ({ got }),
})

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** What a refusal says; undefined where there was none. */
export const refusalOf = (work: Promise<unknown>): Promise<string | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => messageOf(error),
  )

/** A question that breaks off is not known, with what broke it: a network that fails says nothing of the platform. */
export async function answerOf({ about, expected, ask }: Question): Promise<Line> {
  const { as, got } = await ask().catch((error: unknown) => ({
    as: undefined,
    got: `the question broke off: ${messageOf(error)}`,
  }))
  return { about, expected, got, verdict: as === undefined ? 'not known' : as ? 'ok' : 'differs' }
}

/** Milliseconds that work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now()
  await work()
  return performance.now() - from
}

/** The middle of them, which one slow request does not move. */
export const middle = (all: number[]): number => all.toSorted((a, b) => a - b)[all.length >> 1]!

import { messageOf } from '../../src/core/errors.ts'

export type Verdict = 'ok' | 'differs' | 'not known'

export type Line = { about: string; verdict: Verdict; expected: string; got: string }

export type Question = {
  about: string
  expected: string
  /** `as`: true if the answer is as expected. If it is undefined, `got` explains how to find the answer. */
  ask: () => Promise<{ as?: boolean; got: string }>
}

export const is = (as: boolean, got: string) => ({ as, got })

export const unknown = (about: string, expected: string, got: string): Question => ({
  about,
  expected,
  ask: async () => ({ got }),
})

export const refusalOf = (work: Promise<unknown>): Promise<string | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => messageOf(error),
  )

/** If the network fails, the answer is unknown, and not wrong. */
export async function answerOf({ about, expected, ask }: Question): Promise<Line> {
  const { as, got } = await ask().catch((error: unknown) => ({
    as: undefined,
    got: `the check was interrupted: ${messageOf(error)}`,
  }))
  return { about, expected, got, verdict: as === undefined ? 'not known' : as ? 'ok' : 'differs' }
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now()
  await work()
  return performance.now() - from
}

export const middle = (all: number[]): number => all.toSorted((a, b) => a - b)[all.length >> 1]!

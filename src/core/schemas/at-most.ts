type Rule<Input> = [fits: (input: Input) => boolean, words: { error: (issue: { input: unknown }) => string }]

export const ruleOf = <Input>(
  fits: (input: Input) => boolean,
  expected: string,
  got: (input: Input) => string | number | undefined,
): Rule<Input> => [fits, { error: ({ input }) => `expected ${expected}, got ${got(input as Input)}` }]

export const atMost = (most: number, what: string): Rule<object> => {
  const count = (map: object) => Object.keys(map).length
  return ruleOf((map) => count(map) <= most, `at most ${most.toLocaleString('en')} ${what}`, count)
}
